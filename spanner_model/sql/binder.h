// Binds a parsed statement to the schema: resolves tables and columns and makes the plan.
#pragma once

#include <string>
#include <variant>

#include "protocol/spanner/status.h"
#include "spanner_model/sql/ast.h"
#include "spanner_model/sql/plan.h"
#include "spanner_model/sql/statement_binding.h"

namespace whorl::model {

// REQUIRES: the statement was parsed from context.text.
std::variant<Plan, Status> BindStatement(const StatementContext& context,
                                         const ast::Statement& statement);

}  // namespace whorl::model
