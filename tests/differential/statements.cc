#include "tests/differential/statements.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <array>
#include <compare>
#include <utility>

#include "tests/differential/values.h"

namespace whorl::differential {
namespace {

constexpr int kDepth = 3;
constexpr const char* kPending = "PENDING_COMMIT_TIMESTAMP()";

bool IsGreater(const Row& a, const Row& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const auto order = CompareValues(a[i], b[i]);
    if (order != std::weak_ordering::equivalent) return order == std::weak_ordering::greater;
  }
  return false;
}

}  // namespace

model::Table DrawTable(Draw& draw, const std::string& name) {
  model::Table table{.name = name};
  const int keys = draw.Between(1, 2);
  const int columns = keys + draw.Between(1, 5);
  for (int i = 0; i < columns; ++i) {
    const bool is_key = i < keys;
    model::Column column{.name = (is_key ? "k" : "c") + std::to_string(i), .type = DrawType(draw)};
    // Mostly key types that have prefixes or neighbours.
    if (is_key && draw.Percent(60)) column.type = draw.OneIn(2) ? Type::kString : Type::kInt64;
    if (!is_key && draw.OneIn(3)) column.type = Type::kTimestamp;
    column.not_null = draw.OneIn(is_key ? 2 : 5);
    if (column.type == Type::kString || column.type == Type::kBytes) {
      if (draw.OneIn(4)) column.max_length = draw.Between(1, 5);
    }
    column.allow_commit_timestamp = column.type == Type::kTimestamp && !is_key && draw.Percent(70);
    if (is_key) table.key.push_back(static_cast<uint32_t>(i));
    table.columns.push_back(std::move(column));
  }
  return table;
}

// --- SQL -----------------------------------------------------------------------------------------

std::string StatementMaker::Where(Call& call, const model::Table& table) {
  ExpressionMaker maker(draw_, call, &table, commits_);
  if (draw_.OneIn(8)) return " WHERE TRUE";
  // The emulator alone reports errors in rows that the key rules out, so a WHERE has either a key
  // condition or expressions that may fail.
  if (draw_.OneIn(3)) {
    model::Table without_keys = table;
    for (const uint32_t key : table.key) without_keys.columns[key].name = table.columns.back().name;
    for (const uint32_t key : table.key) without_keys.columns[key].type = table.columns.back().type;
    ExpressionMaker other(draw_, call, &without_keys, commits_);
    // Not a conjunct: the emulator evaluates the other side of a conjunct's comparison even without
    // rows.
    return " WHERE (" + other.Make(Type::kBool, kDepth, Failing::kMay) + ") OR FALSE";
  }
  std::string where = " WHERE ";
  const size_t keys = draw_.OneIn(3) ? 1 : table.key.size();
  for (size_t i = 0; i < keys && draw_.Percent(85); ++i) {
    const model::Column& column = table.columns[table.key[i]];
    if (where.size() > 7) where += " AND ";
    where += column.name + " = " + maker.Constant(column.type);
  }
  if (where.size() > 7 && draw_.OneIn(2)) return where;
  if (where.size() > 7) where += " AND ";
  return where + maker.Make(Type::kBool, kDepth, Failing::kNever);
}

std::string StatementMaker::Outputs(Call& call, const model::Table& table, int most,
                                    Failing failing) {
  ExpressionMaker maker(draw_, call, &table, commits_);
  std::vector<std::string> outputs;
  const int count = draw_.Between(1, most);
  for (int i = 0; i < count; ++i) {
    if (draw_.OneIn(2)) {
      outputs.push_back(draw_.Of(table.columns).name);
      continue;
    }
    outputs.push_back(maker.Make(DrawType(draw_), kDepth, failing));
    if (draw_.OneIn(3)) outputs.back() += " AS o" + std::to_string(i);
  }
  return absl::StrJoin(outputs, ", ");
}

std::string StatementMaker::Aggregates(Call& call, const model::Table& table) {
  ExpressionMaker maker(draw_, call, &table, commits_);
  std::vector<std::string> outputs;
  const int count = draw_.Between(1, 3);
  for (int i = 0; i < count; ++i) {
    switch (draw_.Below(4)) {
      case 0:
        outputs.emplace_back("COUNT(*)");
        break;
      case 1:
        outputs.push_back("COUNT(" + maker.Make(DrawType(draw_), 1) + ")");
        break;
      case 2:
        outputs.push_back("SUM(" + maker.Make(Type::kInt64, 1, Failing::kNever) + ")");
        break;
      default:
        // Only key columns, since the emulator drops the nanoseconds of a TIMESTAMP.
        for (const uint32_t key : table.key) {
          if (table.columns[key].type == Type::kTimestamp) continue;
          outputs.push_back((draw_.OneIn(2) ? "MIN(" : "MAX(") + table.columns[key].name + ")");
        }
        if (outputs.empty()) outputs.emplace_back("COUNT(*)");
        break;
    }
  }
  return absl::StrJoin(outputs, ", ");
}

std::string StatementMaker::OrderAndLimit(Call& call, const model::Table& table, bool& ordered) {
  ordered = draw_.Percent(60);
  if (!ordered) return "";
  std::string text = " ORDER BY ";
  ExpressionMaker maker(draw_, call, &table, commits_);
  if (draw_.OneIn(2)) {
    text += draw_.OneIn(2) ? draw_.Of(table.columns).name : maker.Make(DrawType(draw_), 1);
    text += draw_.OneIn(2) ? " DESC, " : ", ";
  }
  // The key last, so that no two rows are equal.
  std::vector<std::string> keys;
  for (const uint32_t key : table.key) {
    keys.push_back(table.columns[key].name + (draw_.OneIn(3) ? " DESC" : ""));
  }
  text += absl::StrJoin(keys, ", ");
  if (draw_.OneIn(3)) text += " LIMIT " + std::to_string(draw_.Below(4));
  if (draw_.OneIn(8) && text.find(" LIMIT ") != std::string::npos) text += " OFFSET 1";
  return text;
}

// Sometimes removes the types of parameters.
Call StatementMaker::MaybeUndeclared(Call call) {
  if (!draw_.OneIn(8)) return call;
  for (Input& input : call.inputs) input.declared = draw_.OneIn(2);
  return call;
}

Call StatementMaker::Query(bool& ordered) {
  Call call;
  if (draw_.OneIn(6)) {
    ExpressionMaker maker(draw_, call, nullptr, commits_);
    std::vector<std::string> outputs;
    const int count = draw_.Between(1, 4);
    for (int i = 0; i < count; ++i) outputs.push_back(maker.Make(DrawType(draw_), kDepth + 1));
    call.sql = "SELECT " + absl::StrJoin(outputs, ", ");
    ordered = true;
    return MaybeUndeclared(std::move(call));
  }
  const model::Table& table = DrawTableOf();
  if (draw_.OneIn(6)) {
    call.sql = "SELECT " + Aggregates(call, table) + " FROM " + table.name;
    if (draw_.OneIn(2)) call.sql += Where(call, table);
    ordered = true;
    return call;
  }
  call.sql = "SELECT " + (draw_.OneIn(2) ? "*" : Outputs(call, table, 4, Failing::kMay)) +
             " FROM " + table.name;
  if (draw_.Percent(60)) call.sql += Where(call, table);
  call.sql += OrderAndLimit(call, table, ordered);
  return MaybeUndeclared(std::move(call));
}

Call StatementMaker::Dml() {
  const model::Table& table = DrawTableOf();
  switch (draw_.Below(5)) {
    case 0:
    case 1:
      return Insert(table);
    case 2:
      return Delete(table);
    default:
      return Update(table);
  }
}

std::string StatementMaker::ThenReturn(Call& call, const model::Table& table) {
  // A pending column cannot be returned: the emulator returns a meaningless time.
  const bool pending = call.sql.find(kPending) != std::string::npos;
  if (pending || !draw_.OneIn(5)) return "";
  return " THEN RETURN " + (draw_.OneIn(3) ? "*" : Outputs(call, table, 3, Failing::kNever));
}

std::vector<const model::Column*> StatementMaker::DrawColumns(const model::Table& table, bool all) {
  std::vector<const model::Column*> columns;
  for (uint32_t i = 0; i < table.columns.size(); ++i) {
    const bool needed = table.IsKey(i) || table.columns[i].not_null;
    const bool taken = all || (needed ? !draw_.OneIn(40) : draw_.Percent(70));
    if (taken) columns.push_back(&table.columns[i]);
  }
  if (columns.empty()) columns.push_back(&table.columns.front());
  return columns;
}

Call StatementMaker::Insert(const model::Table& table) {
  Call call;
  constexpr std::array kModes = {"", "", "", " OR UPDATE", " OR IGNORE"};
  const std::string mode = draw_.Of(kModes);
  ExpressionMaker maker(draw_, call, nullptr, commits_);
  // Columns that INSERT OR UPDATE does not list become NULL in the emulator.
  const auto columns = DrawColumns(table, mode == " OR UPDATE");
  std::vector<std::string> names;
  for (const model::Column* column : columns) names.push_back(column->name);
  std::vector<std::string> rows;
  const int count = draw_.OneIn(3) ? draw_.Between(1, 3) : 1;
  for (int i = 0; i < count; ++i) {
    std::vector<std::string> values;
    for (const model::Column* column : columns) {
      if (column->allow_commit_timestamp && draw_.Percent(60)) {
        values.emplace_back(kPending);
      } else if (draw_.OneIn(6)) {
        values.push_back(maker.Make(column->type, 2));
      } else if (column->not_null || !draw_.OneIn(8)) {
        values.push_back(maker.Write(DrawCell(*column), column->type));
      } else {
        values.emplace_back(draw_.OneIn(2) ? "NULL" : "DEFAULT");
      }
    }
    rows.push_back("(" + absl::StrJoin(values, ", ") + ")");
  }
  call.sql = "INSERT" + mode + " INTO " + table.name + " (" + absl::StrJoin(names, ", ") +
             ") VALUES " + absl::StrJoin(rows, ", ");
  // The emulator returns other rows than those that INSERT OR IGNORE inserted.
  if (mode != " OR IGNORE") call.sql += ThenReturn(call, table);
  return call;
}

Call StatementMaker::Update(const model::Table& table) {
  Call call;
  ExpressionMaker maker(draw_, call, &table, commits_);
  std::vector<std::string> items;
  for (uint32_t i = 0; i < table.columns.size(); ++i) {
    const model::Column& column = table.columns[i];
    if (table.IsKey(i) || !draw_.OneIn(2)) continue;
    std::string value;
    if (column.allow_commit_timestamp && draw_.Percent(60)) {
      value = kPending;
    } else {
      value =
          draw_.OneIn(2) ? maker.Make(column.type, 2) : maker.Write(DrawCell(column), column.type);
    }
    items.push_back(column.name + " = " + value);
  }
  if (items.empty()) items.push_back(table.columns.back().name + " = DEFAULT");
  call.sql = "UPDATE " + table.name + " SET " + absl::StrJoin(items, ", ");
  if (!draw_.OneIn(40)) call.sql += Where(call, table);
  call.sql += ThenReturn(call, table);
  return call;
}

Call StatementMaker::Delete(const model::Table& table) {
  Call call;
  call.sql = "DELETE FROM " + table.name + Where(call, table);
  call.sql += ThenReturn(call, table);
  return call;
}

// --- keys and mutations --------------------------------------------------------------------------

Value StatementMaker::DrawCell(const model::Column& column) {
  Call unused;
  Value value = ExpressionMaker(draw_, unused, nullptr, commits_).DrawStored(column.type);
  const bool future = value == Value(Timestamp::Max());
  // Mostly values that the column accepts.
  if (future && column.allow_commit_timestamp && !draw_.OneIn(5)) return Timestamp::Min();
  return value;
}

Row StatementMaker::DrawKey(const model::Table& table, size_t size) {
  Row key;
  for (size_t i = 0; i < size; ++i) {
    const model::Column& column = table.columns[table.key[i]];
    if (!column.not_null && draw_.OneIn(8)) {
      key.emplace_back(Null{});
    } else {
      key.push_back(DrawCell(column));
    }
  }
  return key;
}

// The emulator deletes only ranges whose ends differ in their last part.
KeySet StatementMaker::DrawKeysToDelete(const model::Table& table) {
  KeySet keys = DrawKeys(table);
  for (KeySpan& span : keys.spans) {
    const size_t size = std::max<size_t>(span.start.size(), 1);
    span.start = DrawKey(table, size);
    span.end = span.start;
    span.end.back() = DrawKey(table, size).back();
    if (IsGreater(span.start, span.end)) std::swap(span.start, span.end);
    // For a range that is empty by its ends, the emulator deletes other rows.
    if (!IsGreater(span.end, span.start)) span.start_closed = span.end_closed = true;
  }
  return keys;
}

KeySet StatementMaker::DrawKeys(const model::Table& table) {
  KeySet keys;
  const size_t size = table.key.size();
  switch (draw_.Below(6)) {
    case 0:
      keys.all = true;
      break;
    case 1:
    case 2: {
      const auto part = [&] {
        return static_cast<size_t>(draw_.Between(0, static_cast<int>(size)));
      };
      KeySpan span;
      span.start_closed = draw_.OneIn(2);
      span.end_closed = draw_.OneIn(2);
      span.start = DrawKey(table, part());
      span.end = DrawKey(table, part());
      if (IsGreater(span.start, span.end)) std::swap(span.start, span.end);
      // An open, empty end crashes the emulator.
      const bool nested = !IsGreater(span.end, span.start);  // and not the other way round
      span.start_closed = span.start_closed || span.start.empty() || nested;
      span.end_closed = span.end_closed || span.end.empty() || nested;
      keys.spans.push_back(std::move(span));
      break;
    }
    default:
      for (int i = draw_.Between(1, 3); i > 0; --i) keys.keys.push_back(DrawKey(table, size));
      break;
  }
  return keys;
}

void StatementMaker::Read(Operation& read) {
  const model::Table& table = DrawTableOf();
  read.table = table.name;
  for (const model::Column& column : table.columns) {
    if (draw_.Percent(70)) read.columns.push_back(column.name);
  }
  if (read.columns.empty() || draw_.OneIn(40)) read.columns.push_back(table.columns[0].name);
  read.keys = DrawKeys(table);
  if (draw_.OneIn(4)) read.limit = draw_.Between(1, 3);
  read.ordered = true;
}

std::vector<Mutation> StatementMaker::Mutations(Typing typing) {
  std::vector<Mutation> mutations;
  for (int i = draw_.Between(1, 3); i > 0; --i) {
    const model::Table& table = DrawTableOf();
    Mutation mutation{.kind = static_cast<MutationKind>(draw_.Below(5)), .table = table.name};
    if (mutation.kind == MutationKind::kDelete) {
      mutation.keys = DrawKeysToDelete(table);
      mutations.push_back(std::move(mutation));
      continue;
    }
    const auto columns = DrawColumns(table, false);
    for (const model::Column* column : columns) mutation.columns.push_back(column->name);
    for (int rows = draw_.OneIn(4) ? 2 : 1; rows > 0; --rows) {
      Row row;
      for (const model::Column* column : columns) {
        if (column->allow_commit_timestamp && draw_.OneIn(2)) {
          row.emplace_back(std::string(kCommitTimestamp));
        } else if (!column->not_null && draw_.OneIn(8)) {
          row.emplace_back(Null{});
        } else if (typing == Typing::kMayBeWrong && draw_.OneIn(60)) {
          row.push_back(DrawValue(draw_, DrawType(draw_)));
        } else {
          row.push_back(DrawCell(*column));
        }
      }
      mutation.rows.push_back(std::move(row));
    }
    mutations.push_back(std::move(mutation));
  }
  return mutations;
}

}  // namespace whorl::differential
