#include "spanner_model/mutations.h"

#include <algorithm>
#include <string>
#include <utility>

#include "spanner_model/key_read.h"
#include "spanner_model/row_checks.h"
#include "spanner_model/write_index.h"

namespace whorl::model {
namespace {

// The state of one call of ApplyMutations.
struct Application {
  const Schema& schema;
  std::span<const StoredTable> tables;
  Timestamp now;
  MutationWrites result;
  WriteIndex index{result.writes};

  bool Invalid(Status status) {
    result.invalid = std::move(status);
    return false;
  }
  void Add(BufferedWrite write) { AddWrite(result.writes, index, std::move(write)); }
  void Refuse(Status status) {
    if (!result.refused) result.refused = std::move(status);
  }
};

Status TypeMismatch(const Table& table, const Column& column) {
  return Error(Code::kFailedPrecondition, "Invalid value for column " + column.name + " in table " +
                                              table.name + ": Expected " +
                                              std::string(WordOf(column.type)) + ".");
}

bool IsCommitTimestamp(const Column& column, const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return column.type == Type::kTimestamp && text != nullptr && *text == kCommitTimestamp;
}

// Checks that do not depend on the stored rows.
Status CheckMutated(const Table& table, const Column& column, const Value& value) {
  if (IsCommitTimestamp(column, value)) return CheckPendingColumn(table, column);
  if (!IsNull(value) && !FitsType(column.type, value)) return TypeMismatch(table, column);
  return {};
}

// The row as the transaction sees it at its commit, if it exists.
std::optional<Row> CurrentRow(Application& application, uint32_t table, const Key& key) {
  const Row* newest = FindNewest(application.tables[table], key);
  const BufferedWrite* own = application.index.Find(table, key);
  if (own == nullptr) return newest == nullptr ? std::nullopt : std::optional<Row>(*newest);
  if (!own->row) return std::nullopt;
  Row row = *own->row;
  if (newest != nullptr) TakeUnwritten(*own, *newest, row);
  return row;
}

// Resolves the columns that a mutation names; each may occur once, and the whole key has to.
bool FindColumns(Application& application, const Table& table, const Mutation& mutation,
                 std::vector<uint32_t>& columns) {
  for (const std::string& name : mutation.columns) {
    const auto column = table.FindColumn(name);
    if (!column) {
      return application.Invalid(
          Error(Code::kNotFound, "Column not found in table " + table.name + ": " + name));
    }
    if (std::find(columns.begin(), columns.end(), *column) != columns.end()) {
      return application.Invalid(Error(
          Code::kInvalidArgument, "Multiple values for column " + table.columns[*column].name));
    }
    columns.push_back(*column);
  }
  for (const uint32_t key : table.key) {
    if (std::find(columns.begin(), columns.end(), key) != columns.end()) continue;
    // A key column that may be NULL and is not named is NULL.
    if (!table.columns[key].not_null) continue;
    application.Refuse(
        Error(Code::kFailedPrecondition,
              "Table " + table.name + " needs a value for key column " + table.columns[key].name));
  }
  return true;
}

// A new row has to name all NOT NULL columns.
Status CheckNewRow(const Table& table, const std::vector<uint32_t>& columns) {
  for (uint32_t column = 0; column < table.columns.size(); ++column) {
    if (!table.columns[column].not_null) continue;
    if (std::find(columns.begin(), columns.end(), column) != columns.end()) continue;
    return Error(Code::kFailedPrecondition,
                 "A new row in table " + table.name +
                     " does not specify a non-null value for NOT NULL column: " +
                     table.columns[column].name);
  }
  return {};
}

// What a mutation writes to one row, by itself.
struct Written {
  Row row;               // NULL in columns that it does not write, or sets to the commit timestamp
  uint64_t columns = 0;  // those that it writes
  uint64_t pending = 0;  // those of them that it sets to the commit timestamp
};

// False: the mutation is invalid.
bool ReadValue(Application& application, const Table& table, uint32_t index, const Value& value,
               Written& written) {
  const Column& column = table.columns[index];
  if (Status status = CheckMutated(table, column, value); !status.ok()) {
    return application.Invalid(std::move(status));
  }
  const uint64_t bit = uint64_t{1} << index;
  written.columns |= bit;
  if (IsCommitTimestamp(column, value)) {
    written.pending |= bit;
    return !table.IsKey(index) ||
           application.Invalid(Error(Code::kInvalidArgument,
                                     "A commit timestamp in a primary key is not modelled"));
  }
  // The error is reported in order with those that depend on the row.
  Status status = CheckValue(table, column, value, application.now);
  if (!status.ok()) application.Refuse(std::move(status));
  written.row[index] = value;
  return true;
}

bool ReadValues(Application& application, const Table& table, const std::vector<uint32_t>& columns,
                const Row& values, Written& written) {
  if (values.size() != columns.size()) {
    return application.Invalid(
        Error(Code::kInvalidArgument, "A mutation of table " + table.name + " has " +
                                          std::to_string(columns.size()) + " columns and " +
                                          std::to_string(values.size()) + " values"));
  }
  written.row.assign(table.columns.size(), Null{});
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!ReadValue(application, table, columns[i], values[i], written)) return false;
  }
  return true;
}

// False: there is no row to write.
bool CheckExistence(Application& application, const Table& table, MutationKind kind, const Key& key,
                    bool exists) {
  if (exists && kind == MutationKind::kInsert) {
    application.Refuse(Error(Code::kAlreadyExists, "Table " + table.name + ": Row " +
                                                       DescribeKey(key) + " already exists."));
  }
  if (exists || kind != MutationKind::kUpdate) return true;
  application.Refuse(
      Error(Code::kNotFound, "Table " + table.name + ": Row " + DescribeKey(key) + " not found."));
  return false;
}

bool WriteRow(Application& application, uint32_t table_index, const Mutation& mutation,
              const std::vector<uint32_t>& columns, const Row& values) {
  const Table& table = application.schema.tables[table_index];
  Written written;
  if (!ReadValues(application, table, columns, values, written)) return false;
  const Key key = KeyOf(table, written.row);
  if (Status status = CheckKeySize(table, key); !status.ok()) {
    return application.Invalid(std::move(status));
  }
  const std::optional<Row> there = CurrentRow(application, table_index, key);
  if (mutation.kind != MutationKind::kUpdate) {
    // Also if the row exists: Spanner checks the mutation before it reads rows.
    Status status = CheckNewRow(table, columns);
    if (!status.ok()) application.Refuse(std::move(status));
  }
  if (!CheckExistence(application, table, mutation.kind, key, there.has_value())) return true;
  const bool is_new =
      !there || mutation.kind == MutationKind::kReplace || mutation.kind == MutationKind::kInsert;
  if (!is_new) {
    for (uint32_t column = 0; column < written.row.size(); ++column) {
      if ((written.columns >> column & 1) == 0) written.row[column] = (*there)[column];
    }
  }
  application.Add({.table = table_index,
                   .key = key,
                   .row = std::move(written.row),
                   .columns = is_new ? AllColumns(table) : written.columns,
                   .pending = written.pending,
                   .changes_existence = is_new});
  return true;
}

bool DeleteRows(Application& application, uint32_t table_index, const KeySet& keys) {
  const Table& table = application.schema.tables[table_index];
  auto ranges = RangesOf(table, keys);
  if (auto* error = std::get_if<Status>(&ranges)) return application.Invalid(std::move(*error));
  const StoredTable& stored = application.tables[table_index];
  for (const KeyRange& range : std::get<std::vector<KeyRange>>(ranges)) {
    std::vector<Key> gone;
    if (range.kind == RangeKind::kKey) {
      // A deletion of a missing row is a write, too: it is ordered against an insert of that row.
      gone.push_back(range.key);
    } else {
      for (const auto& [key, versions] : RowsIn(stored, range)) gone.push_back(key);
      for (const BufferedWrite& write : application.result.writes) {
        if (write.table == table_index && Contains(range, write.key)) gone.push_back(write.key);
      }
    }
    for (Key& key : gone) {
      application.Add({.table = table_index,
                       .key = std::move(key),
                       .row = std::nullopt,
                       .columns = AllColumns(table),
                       .pending = 0,
                       .changes_existence = true});
    }
  }
  return true;
}

bool Apply(Application& application, const Mutation& mutation) {
  const auto table = application.schema.FindTable(mutation.table);
  if (!table) {
    return application.Invalid(Error(Code::kNotFound, "Table not found: " + mutation.table));
  }
  if (mutation.kind == MutationKind::kDelete) {
    return DeleteRows(application, *table, mutation.keys);
  }
  std::vector<uint32_t> columns;
  if (!FindColumns(application, application.schema.tables[*table], mutation, columns)) return false;
  return std::all_of(mutation.rows.begin(), mutation.rows.end(), [&](const Row& row) {
    return WriteRow(application, *table, mutation, columns, row);
  });
}

}  // namespace

MutationWrites ApplyMutations(const Schema& schema, std::span<const StoredTable> tables,
                              std::vector<BufferedWrite> writes,
                              std::span<const Mutation> mutations, Timestamp now) {
  Application application{.schema = schema, .tables = tables, .now = now, .result = {}};
  application.result.writes = std::move(writes);
  for (const Mutation& mutation : mutations) {
    if (!Apply(application, mutation)) break;
  }
  return std::move(application.result);
}

}  // namespace whorl::model
