#include "spanner_model/sql/binder.h"

#include <string>
#include <utility>
#include <vector>

#include "spanner_model/sql/access.h"
#include "spanner_model/sql/bound.h"
#include "spanner_model/sql/expression_binder.h"
#include "spanner_model/sql/source_error.h"

namespace whorl::model {
namespace {

using Result = std::variant<Plan, Status>;

// A WHERE, bound.
struct Where {
  Access access;
  Expression filter;
  ColumnSet reads;
};

// Who assigns, since the two say it in other words when the types differ.
enum class Assigner : uint8_t { kInsert, kUpdate };

class StatementBinder {
 public:
  StatementBinder(const Schema& schema, std::string_view text,
                  std::span<const Parameter> parameters)
      : schema_(schema), text_(text), parameters_(parameters) {}

  Result operator()(const ast::Select& select) {
    const auto index = FindTable(select.table);
    if (!index) return NoTable(select.table);
    const Table& table = schema_.tables[*index];
    ExpressionBinder binder(text_, parameters_, &table);
    SelectPlan plan;
    plan.table = *index;
    if (select.where) {
      Where where = BindWhere(binder, table, *select.where);
      plan.access = std::move(where.access);
      plan.filter = std::move(where.filter);
      plan.reads = where.reads;
    }
    for (const ast::SelectItem& item : select.items) {
      if (item.star) {
        AddAllColumns(table, plan);
      } else {
        AddOutput(binder, item, plan);
      }
    }
    if (binder.failed()) return binder.TakeError();
    return plan;
  }

  Result operator()(const ast::Insert& insert) {
    const auto index = FindTable(insert.table);
    if (!index) return NoTable(insert.table);
    const Table& table = schema_.tables[*index];
    // VALUES may mention no columns, so there is no table to look them up in.
    ExpressionBinder binder(text_, parameters_, nullptr);
    InsertPlan plan;
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
    for (const ast::InsertRow& row : insert.rows) {
      if (!binder.failed()) plan.rows.push_back(BindRow(binder, table, plan.columns, row));
    }
    if (binder.failed()) return binder.TakeError();
    return plan;
  }

  Result operator()(const ast::Update& update) {
    if (!update.where) return NoWhere(update.offset, "UPDATE");
    const auto index = FindTable(update.table);
    if (!index) return NoTable(update.table);
    const Table& table = schema_.tables[*index];
    ExpressionBinder binder(text_, parameters_, &table);
    UpdatePlan plan;
    plan.table = *index;
    Where where = BindWhere(binder, table, *update.where);
    plan.access = std::move(where.access);
    plan.filter = std::move(where.filter);
    plan.reads = where.reads;
    for (const ast::SetItem& item : update.items) BindSetItem(binder, table, item, plan);
    if (binder.failed()) return binder.TakeError();
    return plan;
  }

  Result operator()(const ast::Delete& statement) {
    if (!statement.where) return NoWhere(statement.offset, "DELETE");
    const auto index = FindTable(statement.table);
    if (!index) return NoTable(statement.table);
    const Table& table = schema_.tables[*index];
    ExpressionBinder binder(text_, parameters_, &table);
    DeletePlan plan;
    plan.table = *index;
    Where where = BindWhere(binder, table, *statement.where);
    if (binder.failed()) return binder.TakeError();
    plan.access = std::move(where.access);
    plan.filter = std::move(where.filter);
    plan.reads = where.reads;
    return plan;
  }

 private:
  std::optional<uint32_t> FindTable(const ast::Name& name) const {
    return schema_.FindTable(name.text);
  }
  Status NoTable(const ast::Name& name) const {
    return SourceError(text_, name.offset, "Table not found: " + name.text);
  }
  Status NoWhere(size_t offset, const std::string& statement) const {
    return SourceError(text_, offset, statement + " must have a WHERE clause");
  }

  static Where BindWhere(ExpressionBinder& binder, const Table& table,
                         const ast::Expression& expression) {
    Bound bound = binder.Bind(expression);
    if (!binder.failed() && !binder.Coerce(bound, Type::kBool)) {
      binder.Fail(expression.offset, "WHERE clause should return type BOOL, but returns " +
                                         std::string(TypeName(*bound.type)));
    }
    if (binder.failed()) return {};
    return {.access = FindAccess(table, bound), .filter = Flatten(bound), .reads = bound.columns};
  }

  static void AddAllColumns(const Table& table, SelectPlan& plan) {
    for (uint32_t column = 0; column < table.columns.size(); ++column) {
      Bound bound;
      bound.node.op = Op::kColumn;
      bound.node.index = column;
      plan.outputs.push_back({.name = table.columns[column].name,
                              .type = table.columns[column].type,
                              .expression = Flatten(bound)});
      plan.reads.Add(column);
    }
  }

  static void AddOutput(ExpressionBinder& binder, const ast::SelectItem& item, SelectPlan& plan) {
    const Bound bound = binder.Bind(item.expression);
    if (binder.failed()) return;
    Output output;
    output.name = item.alias;
    const bool is_column = bound.node.op == Op::kColumn;
    if (output.name.empty() && is_column) output.name = item.expression.text;
    output.type = bound.type.value_or(Type::kInt64);  // an untyped NULL is INT64 in a result
    output.expression = Flatten(bound);
    plan.outputs.push_back(std::move(output));
    plan.reads.AddAll(bound.columns);
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

  // Adds what the value mentions to `reads`.
  static Assignment BindAssignment(ExpressionBinder& binder, const Table& table, uint32_t index,
                                   const ast::Expression& value, Assigner assigner,
                                   ColumnSet& reads) {
    const Column& column = table.columns[index];
    Assignment assignment;
    assignment.column = index;
    if (IsPendingCommitTimestamp(value) && value.operands.empty()) {
      assignment.pending_commit_timestamp = true;
      CheckTakesCommitTimestamp(binder, table, column, value.offset, assigner);
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

  static void CheckTakesCommitTimestamp(ExpressionBinder& binder, const Table& table,
                                        const Column& column, size_t offset, Assigner assigner) {
    if (column.type != Type::kTimestamp) {
      FailAssignment(binder, Type::kTimestamp, column, offset, assigner);
    } else if (!column.allow_commit_timestamp) {
      binder.Fail(Error(Code::kFailedPrecondition,
                        "Cannot write commit timestamp because the allow_commit_timestamp column "
                        "option is not set to true for column " +
                            table.name + "." + column.name +
                            ", or for all corresponding shared key columns in this table's "
                            "interleaved table hierarchy."));
    }
  }

  static void FailAssignment(ExpressionBinder& binder, Type type, const Column& column,
                             size_t offset, Assigner assigner) {
    const std::string what(TypeName(type));
    const std::string which =
        column.name + ", which has type " + std::string(TypeName(column.type));
    binder.Fail(offset,
                assigner == Assigner::kInsert
                    ? "Value has type " + what + " which cannot be inserted into column " + which
                    : "Value of type " + what + " cannot be assigned to " + which);
  }

  const Schema& schema_;
  std::string_view text_;
  std::span<const Parameter> parameters_;
};

}  // namespace

std::variant<Plan, Status> BindStatement(const Schema& schema, std::string_view text,
                                         std::span<const Parameter> parameters,
                                         const ast::Statement& statement) {
  return std::visit(StatementBinder(schema, text, parameters), statement);
}

}  // namespace whorl::model
