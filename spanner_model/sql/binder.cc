#include <string>
#include <utility>
#include <vector>

#include "spanner_model/sql/source_error.h"
#include "spanner_model/sql/statement_binding.h"

namespace whorl::model {
namespace {

using BindResult = std::variant<Plan, Status>;

// The assigning statement; the two word a type error differently.
enum class Assigner : uint8_t { kInsert, kUpdate };

class StatementBinder {
 public:
  explicit StatementBinder(const StatementContext& context) : context_(context) {}

  BindResult operator()(const ast::Select& select) {
    auto bound = BindSelect(context_, select);
    if (auto* error = std::get_if<Status>(&bound)) return std::move(*error);
    return std::get<SelectPlan>(std::move(bound));
  }

  BindResult operator()(const ast::Insert& insert) {
    const auto index = FindTable(insert.table);
    if (!index) return context_.NoTable(insert.table);
    const Table& table = context_.schema.tables[*index];
    // VALUES may not mention columns, so the binder gets no table.
    ExpressionBinder binder = context_.MakeBinder(nullptr);
    InsertPlan plan;
    plan.mode = insert.mode;
    plan.table = *index;
    for (const ast::Name& name : insert.columns) {
      const auto column = table.FindColumn(name.text);
      if (!column) {
        binder.Fail(name.offset, "Column " + name.text + " is not present in table " + table.name);
      } else if (plan.writes.Contains(*column)) {
        binder.Fail(name.offset, "INSERT has columns with duplicate name: " + name.text);
      } else {
        plan.columns.push_back(*column);
        plan.writes.Add(*column);
      }
    }
    if (insert.query && !binder.failed()) {
      if (Status status = BindSource(*insert.query, table, plan); !status.ok()) return status;
    }
    ColumnSet pending;
    for (const ast::InsertRow& row : insert.rows) {
      if (binder.failed()) break;
      plan.rows.push_back(BindRow(binder, table, plan.columns, row));
      pending.AddAll(PendingOf(plan.rows.back()));
    }
    if (binder.failed()) return binder.TakeError();
    if (Status mixed = CheckPending(plan.rows); !mixed.ok()) return mixed;
    const auto returned = BindReturning(table, {}, insert.returning, pending, plan.returning);
    if (const auto* error = std::get_if<Status>(&returned)) return *error;
    // An INSERT writes the whole row; an update also returns columns that it does not write.
    if (insert.mode == InsertMode::kInsertOrUpdate) {
      plan.reads.AddAll(std::get<ColumnSet>(returned).Without(plan.writes));
    }
    return plan;
  }

  BindResult operator()(const ast::Update& update) {
    if (!update.where) return NoWhere(update.offset, "UPDATE");
    const auto index = FindTable(update.table);
    if (!index) return context_.NoTable(update.table, update.table.schema);
    if (Status hint = context_.CheckHint(update.table); !hint.ok()) return hint;
    const Table& table = context_.schema.tables[*index];
    ExpressionBinder binder = context_.MakeBinder(&table, update.table.qualifier());
    UpdatePlan plan;
    plan.table = *index;
    BoundWhere where = BindWhere(binder, table, *update.where);
    plan.access = std::move(where.access);
    plan.filter = std::move(where.filter);
    plan.reads = where.reads;
    for (const ast::SetItem& item : update.items) BindSetItem(binder, table, item, plan);
    if (binder.failed()) return binder.TakeError();
    const auto returned = BindReturning(table, update.table.qualifier(), update.returning,
                                        PendingOf(plan.assignments), plan.returning);
    if (const auto* error = std::get_if<Status>(&returned)) return *error;
    plan.reads.AddAll(std::get<ColumnSet>(returned).Without(plan.writes));
    return plan;
  }

  BindResult operator()(const ast::Delete& statement) {
    if (!statement.where) return NoWhere(statement.offset, "DELETE");
    const auto index = FindTable(statement.table);
    if (!index) return context_.NoTable(statement.table, statement.table.schema);
    if (Status hint = context_.CheckHint(statement.table); !hint.ok()) return hint;
    const Table& table = context_.schema.tables[*index];
    ExpressionBinder binder = context_.MakeBinder(&table, statement.table.qualifier());
    DeletePlan plan;
    plan.table = *index;
    BoundWhere where = BindWhere(binder, table, *statement.where);
    if (binder.failed()) return binder.TakeError();
    plan.access = std::move(where.access);
    plan.filter = std::move(where.filter);
    plan.reads = where.reads;
    const auto returned =
        BindReturning(table, statement.table.qualifier(), statement.returning, {}, plan.returning);
    if (const auto* error = std::get_if<Status>(&returned)) return *error;
    plan.reads.AddAll(std::get<ColumnSet>(returned));
    return plan;
  }

 private:
  // Binds the query of an INSERT. Its values have to have the types of the columns, or be a literal NULL.
  Status BindSource(const ast::Select& query, const Table& table, InsertPlan& plan) const {
    auto bound = BindSelect(context_, query);
    if (auto* error = std::get_if<Status>(&bound)) return std::move(*error);
    auto& source = std::get<SelectPlan>(bound);
    const size_t offset = query.items.front().offset;
    if (source.outputs.size() != plan.columns.size()) {
      return SourceError(context_.text, offset,
                         "Inserted row has wrong column count; Has " +
                             std::to_string(source.outputs.size()) + ", expected " +
                             std::to_string(plan.columns.size()));
    }
    for (size_t i = 0; i < source.outputs.size(); ++i) {
      const Output& output = source.outputs[i];
      const Column& column = table.columns[plan.columns[i]];
      const bool null = output.expression.nodes.size() == 1 &&
                        output.expression.literals.size() == 1 &&
                        IsNull(output.expression.literals.front());
      if (null || output.type == column.type) continue;
      return SourceError(context_.text, offset,
                         "A query with " + std::string(WordOf(output.type)) + " for column " +
                             column.name + ", which has type " + std::string(WordOf(column.type)) +
                             ", is not modelled");
    }
    plan.source = std::move(source);
    return {};
  }

  std::optional<uint32_t> FindTable(const ast::Name& name) const {
    return context_.schema.FindTable(name.text);
  }
  // Empty if the name has a schema: no statement but a query names one that there is.
  std::optional<uint32_t> FindTable(const ast::TableName& name) const {
    return name.schema.empty() ? context_.schema.FindTable(name.text) : std::nullopt;
  }
  Status NoWhere(size_t offset, const std::string& statement) const {
    return SourceError(context_.text, offset, statement + " must have a WHERE clause");
  }

  static ColumnSet PendingOf(const std::vector<Assignment>& assignments) {
    ColumnSet pending;
    for (const Assignment& assignment : assignments) {
      if (assignment.pending_commit_timestamp) pending.Add(assignment.column);
    }
    return pending;
  }

  // All rows of an INSERT have to make the same columns pending.
  static Status CheckPending(const std::vector<std::vector<Assignment>>& rows) {
    for (const std::vector<Assignment>& row : rows) {
      for (size_t i = 0; i < row.size(); ++i) {
        if (row[i].pending_commit_timestamp == rows.front()[i].pending_commit_timestamp) continue;
        return Error(Code::kInvalidArgument,
                     "Invalid use of PENDING_COMMIT_TIMESTAMP in column " + std::to_string(i + 1) +
                         ". All values for the column must be PENDING_COMMIT_TIMESTAMP() or none "
                         "of them.");
      }
    }
    return {};
  }

  // Binds the outputs of THEN RETURN and returns the columns that they mention. A pending commit
  // timestamp cannot be returned (on Spanner and newer emulators; the measured one returned
  // 0001-01-01).
  std::variant<ColumnSet, Status> BindReturning(const Table& table, const std::string& qualifier,
                                                const std::vector<ast::SelectItem>& items,
                                                ColumnSet pending,
                                                std::vector<Output>& returning) const {
    for (const ast::SelectItem& item : items) {
      if (!HasAggregate(item.expression)) continue;
      return SourceError(context_.text, item.offset, "THEN RETURN clause cannot use aggregation");
    }
    ExpressionBinder binder = context_.MakeBinder(&table, qualifier);
    const std::vector<BoundOutput> outputs = BindOutputs(binder, &table, items);
    if (binder.failed()) return binder.TakeError();
    returning = FlattenOutputs(outputs);
    const ColumnSet columns = ColumnsOf(outputs);
    for (uint32_t column = 0; column < table.columns.size(); ++column) {
      if (!columns.Contains(column) || !pending.Contains(column)) continue;
      return PendingColumnError(table.columns[column].name);
    }
    return columns;
  }

  static std::vector<Assignment> BindRow(ExpressionBinder& binder, const Table& table,
                                         const std::vector<uint32_t>& columns,
                                         const ast::InsertRow& row) {
    std::vector<Assignment> assignments;
    if (row.values.size() != columns.size()) {
      binder.Fail(row.offset, "Inserted row has wrong column count; Has " +
                                  std::to_string(row.values.size()) + ", expected " +
                                  std::to_string(columns.size()));
      return assignments;
    }
    ColumnSet reads;
    for (size_t i = 0; i < columns.size(); ++i) {
      assignments.push_back(
          BindAssignment(binder, table, columns[i], row.values[i], Assigner::kInsert, reads));
    }
    return assignments;
  }

  static void BindSetItem(ExpressionBinder& binder, const Table& table, const ast::SetItem& item,
                          UpdatePlan& plan) {
    if (!binder.Qualifies(item.qualifier, item.column.offset)) return;
    const auto column = table.FindColumn(item.column.text);
    if (!column) {
      binder.Fail(item.column.offset, "Unrecognized name: " + item.column.text);
    } else if (table.IsKey(*column)) {
      binder.Fail(Error(Code::kInvalidArgument, "Cannot modify a primary key column with UPDATE"));
    } else if (plan.writes.Contains(*column)) {
      binder.Fail(item.column.offset,
                  "Update item " + item.column.text + " assigned more than once");
    } else {
      plan.assignments.push_back(
          BindAssignment(binder, table, *column, item.value, Assigner::kUpdate, plan.reads));
      plan.writes.Add(*column);
    }
  }

  // Adds the columns that the value mentions to `reads`.
  static Assignment BindAssignment(ExpressionBinder& binder, const Table& table, uint32_t index,
                                   const ast::Expression& value, Assigner assigner,
                                   ColumnSet& reads) {
    const Column& column = table.columns[index];
    Assignment assignment;
    assignment.column = index;
    if (IsPendingCommitTimestamp(value) && value.operands.empty()) {
      assignment.pending_commit_timestamp = true;
      CheckIsTimestamp(binder, column, value.offset, assigner);
      return assignment;
    }
    Bound bound = binder.Bind(value);
    if (!binder.failed() && !binder.Coerce(bound, column.type)) {
      FailAssignment(binder, *bound.type, column, value.offset, assigner);
    }
    if (binder.failed()) return assignment;
    reads.AddAll(bound.columns);
    assignment.expression = Flatten(bound);
    return assignment;
  }

  static void CheckIsTimestamp(ExpressionBinder& binder, const Column& column, size_t offset,
                               Assigner assigner) {
    if (column.type != Type::kTimestamp) {
      FailAssignment(binder, Type::kTimestamp, column, offset, assigner);
    }
  }

  static void FailAssignment(ExpressionBinder& binder, Type type, const Column& column,
                             size_t offset, Assigner assigner) {
    const std::string what(WordOf(type));
    const std::string which = column.name + ", which has type " + std::string(WordOf(column.type));
    binder.Fail(offset,
                assigner == Assigner::kInsert
                    ? "Value has type " + what + " which cannot be inserted into column " + which
                    : "Value of type " + what + " cannot be assigned to " + which);
  }

  const StatementContext& context_;
};

}  // namespace

std::variant<Plan, Status> BindStatement(const StatementContext& context,
                                         const ast::Statement& statement) {
  std::vector<Subquery> subqueries;
  StatementContext with_subqueries = context;
  with_subqueries.subqueries = &subqueries;
  auto bound = std::visit(StatementBinder(with_subqueries), statement);
  if (auto* plan = std::get_if<Plan>(&bound)) {
    std::visit([&](auto& of_kind) { of_kind.subqueries = std::move(subqueries); }, *plan);
  }
  return bound;
}

}  // namespace whorl::model
