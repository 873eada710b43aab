#include "spanner_model/execute.h"

#include <algorithm>
#include <string>
#include <utility>

#include "spanner_model/visible_rows.h"

namespace whorl::model {
namespace {

EvaluationContext ContextOf(const ExecutionInput& input, std::span<const Value> row) {
  return {.parameters = input.parameters,
          .row = row,
          .current_timestamp = input.moment.current_timestamp};
}

const Table& TableOf(const ExecutionInput& input, uint32_t table) {
  return input.catalogue.schema().tables[table];
}

KeyRange RangeOf(const ExecutionInput& input, const Access& access) {
  const EvaluationContext context = ContextOf(input, {});
  Value scratch;
  Status error;
  if (access.kind == AccessKind::kAll) return {};
  if (access.kind == AccessKind::kPrefix) {
    const Value* prefix = Evaluate(access.prefix, context, scratch, error);
    // An error is the filter's to report, for the rows there are.
    if (prefix == nullptr) return {};
    if (IsNull(*prefix)) return {.kind = RangeKind::kNothing, .key = {}, .prefix = {}};
    return {.kind = RangeKind::kPrefix, .key = {}, .prefix = std::get<std::string>(*prefix)};
  }
  KeyRange range{.kind = RangeKind::kKey, .key = {}, .prefix = {}};
  range.key.reserve(access.key.size());
  for (const Expression& expression : access.key) {
    const Value* value = Evaluate(expression, context, scratch, error);
    if (value == nullptr) return {};
    if (IsNull(*value)) return {.kind = RangeKind::kNothing, .key = {}, .prefix = {}};
    range.key.push_back(*value);
  }
  return range;
}

// The rows that the WHERE keeps; an error ends the search.
template <typename Visit>
Status ForEachMatch(const ExecutionInput& input, uint32_t table, const Access& access,
                    const Expression* filter, const Visit& visit) {
  Status status;
  ForEachRow(input, table, RangeOf(input, access), [&](const Row& row) {
    const Match match =
        filter == nullptr ? Match::kYes : Matches(*filter, ContextOf(input, row), status);
    if (match == Match::kYes) status = visit(row);
    return status.ok();
  });
  return status;
}

Execution Failed(Status status, bool dooms) {
  Execution execution;
  execution.result.status = std::move(status);
  execution.dooms = dooms;
  return execution;
}

Execution RunSelect(const ExecutionInput& input, const SelectPlan& plan) {
  Execution execution;
  std::vector<Row>& rows = execution.result.rows;
  Value scratch;
  execution.result.status = ForEachMatch(
      input, plan.table, plan.access, plan.filter ? &*plan.filter : nullptr, [&](const Row& row) {
        Status error;
        Row out;
        out.reserve(plan.outputs.size());
        for (const Output& output : plan.outputs) {
          const Value* value = Evaluate(output.expression, ContextOf(input, row), scratch, error);
          if (value == nullptr) return error;
          out.push_back(*value);
        }
        rows.push_back(std::move(out));
        return error;
      });
  if (!execution.result.status.ok()) rows.clear();
  return execution;
}

// A column's new value. The commit timestamp of a pending one comes with the commit.
Status Assign(const ExecutionInput& input, const Table& table, const Assignment& assignment,
              std::span<const Value> old_row, Row& row) {
  if (assignment.pending_commit_timestamp) {
    row[assignment.column] = Null{};
    return {};
  }
  Status error;
  Value scratch;
  const Value* value = Evaluate(assignment.expression, ContextOf(input, old_row), scratch, error);
  if (value == nullptr) return error;
  const Column& column = table.columns[assignment.column];
  const auto* time = std::get_if<Timestamp>(value);
  if (time != nullptr && column.allow_commit_timestamp && *time > input.moment.truetime.latest) {
    return Error(Code::kFailedPrecondition,
                 "Cannot write timestamps in the future " + FormatRfc3339(*time) +
                     " > NOW because the allow_commit_timestamp column option is set to true "
                     "for column " +
                     table.name + "." + column.name);
  }
  if (IsNull(*value) && column.not_null) {
    return Error(Code::kFailedPrecondition,
                 "Cannot specify a null value for column: " + table.name + "." + column.name +
                     " in table: " + table.name);
  }
  row[assignment.column] = *value;
  return {};
}

std::string DescribeKey(const Key& key) {
  std::string out = "[";
  for (const Value& value : key) {
    if (out.size() > 1) out += ", ";
    const auto* text = std::get_if<std::string>(&value);
    out += text != nullptr ? *text : FormatValue(value);
  }
  return out + "]";
}

bool RowExists(const ExecutionInput& input, uint32_t table, const Key& key) {
  const BufferedWrite* own = FindWrite(input.transaction->writes, table, key);
  if (own != nullptr) return own->row.has_value();
  return FindAt(input.tables[table], key, input.snapshot) != nullptr;
}

uint64_t AllColumns(const Table& table) {
  ColumnSet all;
  for (uint32_t column = 0; column < table.columns.size(); ++column) all.Add(column);
  return all.bits();
}

uint64_t PendingOf(std::span<const Assignment> assignments) {
  ColumnSet pending;
  for (const Assignment& assignment : assignments) {
    if (assignment.pending_commit_timestamp) pending.Add(assignment.column);
  }
  return pending.bits();
}

Status MakeInsertedRow(const ExecutionInput& input, const InsertPlan& plan,
                       std::span<const Assignment> assignments, Row& row) {
  const Table& table = TableOf(input, plan.table);
  row.assign(table.columns.size(), Null{});
  for (const Assignment& assignment : assignments) {
    if (Status status = Assign(input, table, assignment, {}, row); !status.ok()) return status;
  }
  for (uint32_t column = 0; column < table.columns.size(); ++column) {
    if (!table.columns[column].not_null || plan.writes.Contains(column)) continue;
    return Error(Code::kFailedPrecondition,
                 "A new row in table " + table.name +
                     " does not specify a non-null value for NOT NULL column: " +
                     table.columns[column].name);
  }
  return {};
}

Execution RunInsert(const ExecutionInput& input, const InsertPlan& plan) {
  const Table& table = TableOf(input, plan.table);
  std::vector<BufferedWrite> writes;
  for (const std::vector<Assignment>& assignments : plan.rows) {
    Row row;
    if (Status status = MakeInsertedRow(input, plan, assignments, row); !status.ok()) {
      const bool constraint = status.code == Code::kFailedPrecondition;
      return Failed(std::move(status), /*dooms=*/constraint);
    }
    Key key = KeyOf(table, row);
    const bool twice = std::any_of(writes.begin(), writes.end(), [&](const BufferedWrite& other) {
      return CompareKeys(other.key, key) == 0;
    });
    if (twice || RowExists(input, plan.table, key)) {
      return Failed(Error(Code::kAlreadyExists, "Row " + DescribeKey(key) + " in table " +
                                                    table.name + " already exists"),
                    /*dooms=*/true);
    }
    writes.push_back({.table = plan.table,
                      .key = std::move(key),
                      .row = std::move(row),
                      .columns = AllColumns(table),
                      .pending = PendingOf(assignments),
                      .changes_existence = true});
  }
  Execution execution;
  execution.result.row_count = static_cast<int64_t>(writes.size());
  for (BufferedWrite& write : writes) AddWrite(input.transaction->writes, std::move(write));
  return execution;
}

Execution RunUpdate(const ExecutionInput& input, const UpdatePlan& plan) {
  const Table& table = TableOf(input, plan.table);
  std::vector<BufferedWrite> writes;
  bool dooms = false;
  Status status =
      ForEachMatch(input, plan.table, plan.access, &plan.filter, [&](const Row& old_row) {
        Row row = old_row;
        for (const Assignment& assignment : plan.assignments) {
          Status failure = Assign(input, table, assignment, old_row, row);
          dooms = dooms || failure.code == Code::kFailedPrecondition;
          if (!failure.ok()) return failure;
        }
        writes.push_back({.table = plan.table,
                          .key = KeyOf(table, old_row),
                          .row = std::move(row),
                          .columns = plan.writes.bits(),
                          .pending = PendingOf(plan.assignments),
                          .changes_existence = false});
        return Status{};
      });
  if (!status.ok()) return Failed(std::move(status), dooms);
  Execution execution;
  execution.result.row_count = static_cast<int64_t>(writes.size());
  for (BufferedWrite& write : writes) AddWrite(input.transaction->writes, std::move(write));
  return execution;
}

Execution RunDelete(const ExecutionInput& input, const DeletePlan& plan) {
  const Table& table = TableOf(input, plan.table);
  std::vector<Key> keys;
  Status status = ForEachMatch(input, plan.table, plan.access, &plan.filter, [&](const Row& row) {
    keys.push_back(KeyOf(table, row));
    return Status{};
  });
  if (!status.ok()) return Failed(std::move(status), /*dooms=*/false);
  Execution execution;
  execution.result.row_count = static_cast<int64_t>(keys.size());
  for (Key& key : keys) {
    AddWrite(input.transaction->writes, {.table = plan.table,
                                         .key = std::move(key),
                                         .row = std::nullopt,
                                         .columns = AllColumns(table),
                                         .pending = 0,
                                         .changes_existence = true});
  }
  return execution;
}

// What a plan reads of which table: INSERT reads only whether its keys exist.
struct Reads {
  uint32_t table = 0;
  const Access* access = nullptr;
  ColumnSet columns;
};

Reads ReadsOf(const Plan& plan) {
  return std::visit(
      [](const auto& p) -> Reads {
        if constexpr (requires { p.access; }) {
          return {.table = p.table, .access = &p.access, .columns = p.reads};
        } else {
          return {.table = p.table, .access = nullptr, .columns = p.reads};
        }
      },
      plan);
}

}  // namespace

Status CheckPendingColumns(const ExecutionInput& input, uint32_t table_index, ColumnSet columns) {
  if (input.transaction == nullptr) return {};
  const Table& table = TableOf(input, table_index);
  for (const BufferedWrite& write : input.transaction->writes) {
    if (write.table != table_index || write.pending == 0) continue;
    if (input.catalogue.options().pending_rule == PendingRule::kTable) {
      return Error(
          Code::kInvalidArgument,
          "Table " + table.name + " cannot be accessed because it has a pending CommitTimestamp");
    }
    for (uint32_t column = 0; column < table.columns.size(); ++column) {
      if (!columns.Contains(column) || (write.pending >> column & 1) == 0) continue;
      return Error(Code::kInvalidArgument,
                   "Column " + table.columns[column].name +
                       " cannot be accessed because it, or its associated index, has a pending "
                       "CommitTimestamp");
    }
  }
  return {};
}

Status CheckPending(const ExecutionInput& input, const Plan& plan) {
  const Reads reads = ReadsOf(plan);
  if (reads.access == nullptr) return {};
  return CheckPendingColumns(input, reads.table, reads.columns);
}

void AppendReadLocks(const ExecutionInput& input, const Plan& plan, std::vector<ReadLock>& out) {
  const Reads reads = ReadsOf(plan);
  if (reads.access != nullptr) {
    out.push_back({.table = reads.table,
                   .range = RangeOf(input, *reads.access),
                   .columns = reads.columns.bits()});
    return;
  }
  const InsertPlan& insert = std::get<InsertPlan>(plan);
  for (const std::vector<Assignment>& assignments : insert.rows) {
    Row row;
    if (!MakeInsertedRow(input, insert, assignments, row).ok()) return;  // Execute says why
    out.push_back({.table = insert.table,
                   .range = {.kind = RangeKind::kKey,
                             .key = KeyOf(TableOf(input, insert.table), row),
                             .prefix = {}},
                   .columns = 0});
  }
}

Execution Execute(const ExecutionInput& input, const Plan& plan) {
  if (const auto* select = std::get_if<SelectPlan>(&plan)) return RunSelect(input, *select);
  if (input.transaction == nullptr) {
    return Failed(Error(Code::kInvalidArgument,
                        "DML statements can only be performed in a read-write transaction"),
                  /*dooms=*/false);
  }
  if (const auto* insert = std::get_if<InsertPlan>(&plan)) return RunInsert(input, *insert);
  if (const auto* update = std::get_if<UpdatePlan>(&plan)) return RunUpdate(input, *update);
  return RunDelete(input, std::get<DeletePlan>(plan));
}

}  // namespace whorl::model
