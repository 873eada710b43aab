// From a statement as written to its plan: tables, columns, assignments, access.
#pragma once

#include <string>
#include <variant>

#include "protocol/spanner/status.h"
#include "spanner_model/sql/ast.h"
#include "spanner_model/sql/plan.h"
#include "spanner_model/sql/statement_binding.h"

namespace whorl::model {

// REQUIRES: context.text is what the statement was parsed from.
std::variant<Plan, Status> BindStatement(const StatementContext& context,
                                         const ast::Statement& statement);

}  // namespace whorl::model
