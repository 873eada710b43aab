// Binds parsed statements to the schema: BindStatement, and the types and functions that binder.cc,
// select_binder.cc and access.cc share.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/spanner/sql.h"
#include "protocol/spanner/status.h"
#include "spanner_model/schema.h"
#include "spanner_model/sql/ast.h"
#include "spanner_model/sql/bound.h"
#include "spanner_model/sql/expression_binder.h"
#include "spanner_model/sql/plan.h"

namespace whorl::model {

// The inputs of binding. `inferred` is null if every parameter has to be declared; otherwise an
// undeclared one is added to it.
struct StatementContext {
  const Schema& schema;
  std::string_view text;
  std::span<const Parameter> parameters;
  std::vector<InferredParameter>* inferred = nullptr;
  // Where the subqueries of the statement are collected.
  std::vector<Subquery>* subqueries = nullptr;
  // Inside of a subquery: what its names could mean outside, which is not modelled.
  const ExpressionBinder* outside = nullptr;

  // A binder for expressions over the table, or over no table if it is null.
  // REQUIRES: this outlives the binder.
  ExpressionBinder MakeBinder(const Table* table, std::string qualifier = {}) const;
  Status NoTable(const ast::Name& name, const std::string& schema_name = {}) const;
  // OK, or an error if a hint names an index that the table does not have.
  Status CheckHint(const ast::TableName& name) const;
};

// A bound WHERE.
struct BoundWhere {
  Access access;
  Expression filter;
  ColumnSet reads;
};
BoundWhere BindWhere(ExpressionBinder& binder, const Table& table,
                     const ast::Expression& expression);

// Binds the items of SELECT or THEN RETURN and expands *. The result is meaningless once
// binder.failed(). REQUIRES: `table` is not null if an item is *.
std::vector<BoundOutput> BindOutputs(ExpressionBinder& binder, const Table* table,
                                     const std::vector<ast::SelectItem>& items);
std::vector<Output> FlattenOutputs(const std::vector<BoundOutput>& outputs);
ColumnSet ColumnsOf(const std::vector<BoundOutput>& outputs);

// The narrowest access that the top-level AND conditions of `where` allow: one key if every key
// column equals an expression without columns, else a prefix of a key that is one STRING, else the
// whole table. OR, ranges and IS NULL do not narrow it.
Access FindAccess(const Table& table, const Bound& where);

// Binds any statement. REQUIRES: the statement was parsed from context.text.
std::variant<Plan, Status> BindStatement(const StatementContext& context,
                                         const ast::Statement& statement);
std::variant<SelectPlan, Status> BindSelect(const StatementContext& context,
                                            const ast::Select& select);

}  // namespace whorl::model
