// What the binders of the statements (binder.cc, select_binder.cc) share.
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
#include "spanner_model/sql/expression_binder.h"
#include "spanner_model/sql/plan.h"

namespace whorl::model {

// What a statement is bound in. `inferred` is null when every parameter has to be declared.
struct StatementContext {
  const Schema& schema;
  std::string_view text;
  std::span<const Parameter> parameters;
  std::vector<InferredParameter>* inferred = nullptr;

  // For expressions over the table, or over none. REQUIRES: this outlives it.
  ExpressionBinder MakeBinder(const Table* table) const;
  Status NoTable(const ast::Name& name) const;
};

// A WHERE, bound.
struct BoundWhere {
  Access access;
  Expression filter;
  ColumnSet reads;
};
BoundWhere BindWhere(ExpressionBinder& binder, const Table& table,
                     const ast::Expression& expression);

// The items of SELECT or THEN RETURN, with * written out; nothing may be used once
// binder.failed(). REQUIRES: the table is there, or no item is *.
std::vector<BoundOutput> BindOutputs(ExpressionBinder& binder, const Table* table,
                                     const std::vector<ast::SelectItem>& items);
std::vector<Output> FlattenOutputs(const std::vector<BoundOutput>& outputs);
ColumnSet ColumnsOf(const std::vector<BoundOutput>& outputs);

std::variant<Plan, Status> BindSelect(const StatementContext& context, const ast::Select& select);

}  // namespace whorl::model
