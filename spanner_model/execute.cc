#include "spanner_model/execute.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "spanner_model/row_checks.h"
#include "spanner_model/visible_rows.h"
#include "spanner_model/write_index.h"

namespace whorl::model {
namespace {

Execution Failed(Status status, bool dooms) {
  Execution execution;
  execution.result.status = std::move(status);
  execution.dooms = dooms;
  return execution;
}

// Computes the new values of a row without checking constraints. Commit fills in the commit
// timestamp of a pending column.
Status Assign(const ExecutionInput& input, std::span<const Assignment> assignments,
              std::span<const Value> old_row, Row& row) {
  const EvaluationContext context = ContextOf(input, old_row);
  Value scratch;
  Status error;
  for (const Assignment& assignment : assignments) {
    if (assignment.pending_commit_timestamp) {
      row[assignment.column] = Null{};
      continue;
    }
    const Value* value = Evaluate(assignment.expression, context, scratch, error);
    if (value == nullptr) return error;
    row[assignment.column] = *value;
  }
  return {};
}

// Checks the constraints on the row's values in `columns`; those in `pending` will hold the commit
// timestamp.
Status CheckRow(const ExecutionInput& input, const Table& table, uint64_t columns, uint64_t pending,
                const Row& row) {
  for (uint32_t index = 0; index < table.columns.size(); ++index) {
    if ((columns >> index & 1) == 0) continue;
    const Column& column = table.columns[index];
    Status status = (pending >> index & 1) != 0
                        ? CheckPendingColumn(table, column)
                        : CheckValue(table, column, row[index], input.moment.Latest());
    if (!status.ok()) return status;
  }
  return {};
}

// `index`: of the transaction's writes.
bool RowExists(const ExecutionInput& input, WriteIndex& index, uint32_t table, const Key& key) {
  const BufferedWrite* own = index.Find(table, key);
  if (own != nullptr) return own->row.has_value();
  return FindAt(input.tables[table], key, input.snapshot) != nullptr;
}

uint64_t PendingOf(std::span<const Assignment> assignments) {
  ColumnSet pending;
  for (const Assignment& assignment : assignments) {
    if (assignment.pending_commit_timestamp) pending.Add(assignment.column);
  }
  return pending.bits();
}

// A row of INSERT, with NULL in the columns that are not listed.
Status MakeInsertedRow(const ExecutionInput& input, const InsertPlan& plan,
                       std::span<const Assignment> assignments, Row& row) {
  row.assign(TableOf(input, plan.table).columns.size(), Null{});
  return Assign(input, assignments, {}, row);
}

// Buffers the writes of a statement that succeeds.
Execution BufferAll(const ExecutionInput& input, std::vector<BufferedWrite> writes,
                    std::vector<Row> returned) {
  Execution execution;
  execution.result.row_count = static_cast<int64_t>(writes.size());
  execution.result.rows = std::move(returned);
  std::vector<BufferedWrite>& all = input.transaction->writes;
  WriteIndex index(all);
  for (BufferedWrite& write : writes) AddWrite(all, index, std::move(write));
  return execution;
}

// Runs an INSERT row by row.
class Inserter {
 public:
  Inserter(const ExecutionInput& input, const InsertPlan& plan)
      : input_(input), plan_(plan), table_(TableOf(input, plan.table)) {}

  // Evaluates all rows, then looks up all keys, then checks all constraints, so that errors appear
  // in that order.
  Execution Run() {
    std::vector<Row> rows;
    if (Status status = MakeRows(rows); !status.ok()) {
      return Failed(std::move(status), /*dooms=*/false);
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      Status status = Take(std::move(rows[i]), plan_.source ? 0 : PendingOf(plan_.rows[i]));
      const bool dooms = status.code == Code::kAlreadyExists;
      if (!status.ok()) return Failed(std::move(status), dooms);
    }
    std::vector<Row> returned;
    for (const BufferedWrite& write : writes_) {
      Status status = CheckRow(input_, table_, AllColumns(table_), write.pending, *write.row);
      if (!status.ok()) return Failed(std::move(status), /*dooms=*/true);
    }
    for (BufferedWrite& write : writes_) {
      if (!write.changes_existence) KeepOtherColumns(write);
      if (plan_.returning.empty()) continue;
      Status status = AppendOutputs(input_, plan_.returning, *write.row, returned);
      if (!status.ok()) return Failed(std::move(status), /*dooms=*/false);
    }
    return BufferAll(input_, std::move(writes_), std::move(returned));
  }

 private:
  // The rows of VALUES, or of the query.
  Status MakeRows(std::vector<Row>& rows) const {
    if (!plan_.source) {
      rows.resize(plan_.rows.size());
      for (size_t i = 0; i < rows.size(); ++i) {
        Status status = MakeInsertedRow(input_, plan_, plan_.rows[i], rows[i]);
        if (!status.ok()) return status;
      }
      return {};
    }
    StatementResult source = RunQuery(input_, *plan_.source);
    for (Row& values : source.rows) {
      Row& row = rows.emplace_back(table_.columns.size(), Null{});
      for (size_t i = 0; i < values.size(); ++i) row[plan_.columns[i]] = std::move(values[i]);
    }
    return source.status;
  }

  // Turns the row into a write, an error or nothing, depending on whether its key exists.
  Status Take(Row row, uint64_t pending) {
    Key key = KeyOf(table_, row);
    if (Status status = CheckKeySize(table_, key); !status.ok()) return status;
    const bool twice = index_.Find(plan_.table, key) != nullptr;
    const bool exists = RowExists(input_, of_transaction_, plan_.table, key);
    switch (plan_.mode) {
      case InsertMode::kInsert:
        if (!twice && !exists) break;
        return Error(Code::kAlreadyExists,
                     "Row " + DescribeKey(key) + " in table " + table_.name + " already exists");
      case InsertMode::kInsertOrIgnore:
        if (!twice && !exists) break;
        return {};
      case InsertMode::kInsertOrUpdate:
        if (!twice) break;
        return Error(Code::kInvalidArgument,
                     "Cannot affect a row second time for key: " + DescribeKey(key));
    }
    writes_.push_back({.table = plan_.table,
                       .key = std::move(key),
                       .row = std::move(row),
                       .columns = exists ? plan_.writes.bits() : AllColumns(table_),
                       .pending = pending,
                       .changes_existence = !exists});
    return {};
  }

  // INSERT OR UPDATE leaves the columns that it does not list as they are.
  void KeepOtherColumns(BufferedWrite& write) {
    Row scratch;
    const Row* old_row = RowAt(input_, of_transaction_.Find(plan_.table, write.key), plan_.table,
                               write.key, scratch);
    if (old_row != nullptr) TakeUnwritten(write, *old_row, *write.row);
  }

  const ExecutionInput& input_;
  const InsertPlan& plan_;
  const Table& table_;
  std::vector<BufferedWrite> writes_;
  WriteIndex index_{writes_};
  WriteIndex of_transaction_{input_.transaction->writes};
};

Execution RunUpdate(const ExecutionInput& input, const UpdatePlan& plan) {
  const Table& table = TableOf(input, plan.table);
  std::vector<BufferedWrite> writes;
  std::vector<Row> returned;
  Status status =
      ForEachMatch(input, plan.table, plan.access, &plan.filter, [&](const Row& old_row) {
        Row row = old_row;
        Status failure = Assign(input, plan.assignments, old_row, row);
        if (failure.ok() && !plan.returning.empty()) {
          failure = AppendOutputs(input, plan.returning, row, returned);
        }
        if (!failure.ok()) return failure;
        writes.push_back({.table = plan.table,
                          .key = KeyOf(table, old_row),
                          .row = std::move(row),
                          .columns = plan.writes.bits(),
                          .pending = PendingOf(plan.assignments),
                          .changes_existence = false});
        return failure;
      });
  if (!status.ok()) return Failed(std::move(status), /*dooms=*/false);
  for (const BufferedWrite& write : writes) {
    status = CheckRow(input, table, write.columns, write.pending, *write.row);
    if (!status.ok()) return Failed(std::move(status), /*dooms=*/true);
  }
  return BufferAll(input, std::move(writes), std::move(returned));
}

Execution RunDelete(const ExecutionInput& input, const DeletePlan& plan) {
  const Table& table = TableOf(input, plan.table);
  std::vector<BufferedWrite> writes;
  std::vector<Row> returned;
  Status status = ForEachMatch(input, plan.table, plan.access, &plan.filter, [&](const Row& row) {
    writes.push_back({.table = plan.table,
                      .key = KeyOf(table, row),
                      .row = std::nullopt,
                      .columns = AllColumns(table),
                      .pending = 0,
                      .changes_existence = true});
    return plan.returning.empty() ? Status{} : AppendOutputs(input, plan.returning, row, returned);
  });
  if (!status.ok()) return Failed(std::move(status), /*dooms=*/false);
  return BufferAll(input, std::move(writes), std::move(returned));
}

// The table and the columns that a plan reads. INSERT has no access: it reads whether its keys
// exist.
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

bool ReadsNoTable(const Reads& reads) {
  return reads.access != nullptr &&
         (reads.access->kind == AccessKind::kNothing || reads.access->kind == AccessKind::kGiven);
}

const std::vector<Subquery>& SubqueriesOf(const Plan& plan) {
  return std::visit([](const auto& p) -> const std::vector<Subquery>& { return p.subqueries; },
                    plan);
}

// Calls visit(query) for the queries inside of a statement.
template <typename Visit>
void ForEachQueryInside(const Plan& plan, const Visit& visit) {
  for (const Subquery& subquery : SubqueriesOf(plan)) visit(*subquery.plan);
  const auto* insert = std::get_if<InsertPlan>(&plan);
  if (insert != nullptr && insert->source) visit(*insert->source);
}

Reads ReadsOf(const SelectPlan& query) {
  return {.table = query.table, .access = &query.access, .columns = query.reads};
}

// Appends the value of each subquery to `values`.
Status RunSubqueries(ExecutionInput input, const std::vector<Subquery>& subqueries,
                     std::vector<Value>& values) {
  for (const Subquery& subquery : subqueries) {
    input.parameters = values;
    StatementResult result = RunQuery(input, *subquery.plan);
    if (!result.status.ok()) return std::move(result.status);
    if (subquery.use == SubqueryUse::kExists) {
      values.emplace_back(!result.rows.empty());
    } else if (subquery.use == SubqueryUse::kArray) {
      Array array;
      for (Row& row : result.rows) array.elements.push_back(std::move(row.front()));
      values.emplace_back(std::move(array));
    } else if (result.rows.size() > 1) {
      return Error(Code::kOutOfRange, "Scalar subquery produced more than one element");
    } else {
      values.push_back(result.rows.empty() ? Value(Null{}) : std::move(result.rows[0][0]));
    }
  }
  return {};
}

void AppendLock(const ExecutionInput& input, const Reads& reads, std::vector<ReadLock>& out) {
  if (ReadsNoTable(reads)) return;
  out.push_back({.table = reads.table,
                 .range = RangeOf(input, *reads.access),
                 .columns = reads.columns.bits()});
}

}  // namespace

Status CheckPendingColumns(const ExecutionInput& input, uint32_t table_index, ColumnSet columns) {
  if (input.transaction == nullptr) return {};
  const Table& table = TableOf(input, table_index);
  for (const BufferedWrite& write : input.transaction->writes) {
    if (write.table != table_index || write.unreadable == 0) continue;
    if (input.catalogue.options().pending_rule == PendingRule::kTable) {
      return Error(
          Code::kInvalidArgument,
          "Table " + table.name + " cannot be accessed because it has a pending CommitTimestamp");
    }
    for (uint32_t column = 0; column < table.columns.size(); ++column) {
      if (!columns.Contains(column) || (write.unreadable >> column & 1) == 0) continue;
      return PendingColumnError(table.columns[column].name);
    }
  }
  return {};
}

Status CheckPending(const ExecutionInput& input, const Plan& plan) {
  Status inside;
  ForEachQueryInside(plan, [&](const SelectPlan& query) {
    const Reads of_query = ReadsOf(query);
    if (!inside.ok() || ReadsNoTable(of_query)) return;
    inside = CheckPendingColumns(input, of_query.table, of_query.columns);
  });
  if (!inside.ok()) return inside;
  const Reads reads = ReadsOf(plan);
  if (ReadsNoTable(reads)) return {};
  // Reading only the existence of keys is allowed.
  if (reads.access == nullptr && reads.columns.empty()) return {};
  return CheckPendingColumns(input, reads.table, reads.columns);
}

void AppendReadLocks(const ExecutionInput& input, const Plan& plan, std::vector<ReadLock>& out) {
  bool has_queries = false;
  ForEachQueryInside(plan, [&](const SelectPlan& query) {
    has_queries = true;
    AppendLock(input, ReadsOf(query), out);
  });
  const Reads reads = ReadsOf(plan);
  if (reads.access != nullptr) return AppendLock(input, reads, out);
  const InsertPlan& insert = std::get<InsertPlan>(plan);
  if (has_queries) {
    // Which keys it inserts is known once its queries have run, so it locks all.
    out.push_back({.table = insert.table, .range = {}, .columns = reads.columns.bits()});
    return;
  }
  const size_t before = out.size();
  for (const std::vector<Assignment>& assignments : insert.rows) {
    Row row;
    // If a row cannot be evaluated, no key is looked up at all; Execute returns the error.
    if (!MakeInsertedRow(input, insert, assignments, row).ok()) return out.resize(before);
    out.push_back({.table = insert.table,
                   .range = {.kind = RangeKind::kKey,
                             .key = KeyOf(TableOf(input, insert.table), row),
                             .prefix = {}},
                   .columns = reads.columns.bits()});
  }
}

namespace {

Execution ExecuteWithoutSubqueries(const ExecutionInput& input, const Plan& plan) {
  if (const auto* select = std::get_if<SelectPlan>(&plan)) {
    return {.result = RunQuery(input, *select)};
  }
  if (input.transaction == nullptr) {
    return Failed(Error(Code::kInvalidArgument,
                        "DML statements can only be performed in a read-write or partitioned-dml "
                        "transaction."),
                  /*dooms=*/false);
  }
  if (const auto* insert = std::get_if<InsertPlan>(&plan)) {
    return Inserter(input, *insert).Run();
  }
  if (const auto* update = std::get_if<UpdatePlan>(&plan)) return RunUpdate(input, *update);
  return RunDelete(input, std::get<DeletePlan>(plan));
}

}  // namespace

Execution Execute(const ExecutionInput& input, const Plan& plan) {
  const std::vector<Subquery>& subqueries = SubqueriesOf(plan);
  if (subqueries.empty()) return ExecuteWithoutSubqueries(input, plan);
  std::vector<Value> values(input.parameters.begin(), input.parameters.end());
  Status status = RunSubqueries(input, subqueries, values);
  if (!status.ok()) return Failed(std::move(status), /*dooms=*/false);
  ExecutionInput with_values = input;
  with_values.parameters = values;
  return ExecuteWithoutSubqueries(with_values, plan);
}

}  // namespace whorl::model
