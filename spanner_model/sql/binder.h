// From a statement as written to its plan: tables, columns, assignments, access.
#pragma once

#include <span>
#include <string_view>
#include <variant>

#include "protocol/spanner/sql.h"
#include "protocol/spanner/status.h"
#include "spanner_model/schema.h"
#include "spanner_model/sql/ast.h"
#include "spanner_model/sql/plan.h"

namespace whorl::model {

// `text` is what the statement was parsed from, for messages.
std::variant<Plan, Status> BindStatement(const Schema& schema, std::string_view text,
                                         std::span<const Parameter> parameters,
                                         const ast::Statement& statement);

}  // namespace whorl::model
