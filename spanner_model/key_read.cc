#include "spanner_model/key_read.h"

#include <algorithm>
#include <utility>

#include "spanner_model/visible_rows.h"
#include "spanner_model/write_index.h"

namespace whorl::model {
namespace {

Status WrongKey(const Table& table, const std::string& why) {
  return Error(Code::kFailedPrecondition, "Table " + table.name + ": " + why);
}

// Checks a key, or with `whole` false the first parts of one.
Status CheckKey(const Table& table, const Row& key, bool whole) {
  if (key.size() > table.key.size() || (whole && key.size() != table.key.size())) {
    return WrongKey(table, "a key has " + std::to_string(table.key.size()) + " parts, not " +
                               std::to_string(key.size()));
  }
  for (size_t i = 0; i < key.size(); ++i) {
    const Column& column = table.columns[table.key[i]];
    if (!IsNull(key[i]) && !FitsType(column.type, key[i])) {
      return WrongKey(table, "part " + std::to_string(i + 1) + " of a key is not of type " +
                                 std::string(WordOf(column.type)));
    }
  }
  return {};
}

}  // namespace

std::variant<std::vector<KeyRange>, Status> RangesOf(const Table& table, const KeySet& keys) {
  std::vector<KeyRange> ranges;
  if (keys.all) return std::vector<KeyRange>(1);
  for (const Row& key : keys.keys) {
    if (Status status = CheckKey(table, key, /*whole=*/true); !status.ok()) return status;
    ranges.push_back({.kind = RangeKind::kKey, .key = key});
  }
  for (const KeySpan& span : keys.spans) {
    for (const Row* end : {&span.start, &span.end}) {
      if (Status status = CheckKey(table, *end, /*whole=*/false); !status.ok()) return status;
    }
    ranges.push_back({.kind = RangeKind::kSpan, .span = span});
  }
  return ranges;
}

std::variant<KeyRead, Status> ResolveRead(const Schema& schema, const Read& read) {
  KeyRead resolved;
  const auto table = schema.FindTable(read.table);
  if (!table) return Error(Code::kNotFound, "Table not found: " + read.table);
  resolved.table = *table;
  resolved.limit = read.limit;
  if (read.columns.empty()) {
    return Error(Code::kInvalidArgument, "A read names at least one column");
  }
  for (const std::string& name : read.columns) {
    const auto column = schema.tables[*table].FindColumn(name);
    if (!column) {
      return Error(Code::kNotFound,
                   "Column not found in table " + schema.tables[*table].name + ": " + name);
    }
    resolved.columns.push_back(*column);
  }
  auto ranges = RangesOf(schema.tables[*table], read.keys);
  if (auto* error = std::get_if<Status>(&ranges)) return std::move(*error);
  resolved.ranges = std::get<std::vector<KeyRange>>(std::move(ranges));
  return resolved;
}

ColumnSet ColumnsOf(const KeyRead& read) {
  ColumnSet columns;
  for (const uint32_t column : read.columns) columns.Add(column);
  return columns;
}

Status CheckPending(const ExecutionInput& input, const KeyRead& read) {
  return CheckPendingColumns(input, read.table, ColumnsOf(read));
}

void AppendReadLocks(const KeyRead& read, std::vector<ReadLock>& out) {
  for (const KeyRange& range : read.ranges) {
    out.push_back({.table = read.table, .range = range, .columns = ColumnsOf(read).bits()});
  }
}

Execution Execute(const ExecutionInput& input, const KeyRead& read) {
  Execution execution;
  std::vector<Row>& rows = execution.result.rows;
  // A key set is a set: each row is returned once, in the order of keys.
  std::vector<std::pair<Key, Row>> found;
  const Table& table = input.catalogue.schema().tables[read.table];
  const auto add = [&](const Row& row) {
    Row out;
    out.reserve(read.columns.size());
    for (const uint32_t column : read.columns) out.push_back(row[column]);
    found.emplace_back(KeyOf(table, row), std::move(out));
    return true;
  };
  static const std::vector<BufferedWrite> kNone;
  WriteIndex own(input.transaction != nullptr ? input.transaction->writes : kNone);
  Row scratch;
  for (const KeyRange& range : read.ranges) {
    if (range.kind != RangeKind::kKey) {
      ForEachRow(input, read.table, range, add);
    } else if (const Row* row =
                   RowAt(input, own.Find(read.table, range.key), read.table, range.key, scratch)) {
      add(*row);
    }
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return CompareKeys(a.first, b.first) < 0; });
  const Key* last = nullptr;
  for (auto& [key, row] : found) {
    if (read.limit > 0 && static_cast<int64_t>(rows.size()) >= read.limit) break;
    if (last != nullptr && CompareKeys(*last, key) == 0) continue;
    last = &key;
    rows.push_back(std::move(row));
  }
  return execution;
}

}  // namespace whorl::model
