// From text to the statement it writes: SELECT, INSERT, UPDATE and DELETE of one table.
//
// Deliberately left out, and refused by name (`ORDER is not modelled`): joins, table aliases,
// subqueries, GROUP BY, ORDER BY, LIMIT, THEN RETURN, INSERT OR UPDATE, IN, LIKE, BETWEEN, CASE,
// CAST, DDL. A new clause is a function here, a field in ast.h, and a step in binder.cc.
#pragma once

#include <string_view>
#include <variant>

#include "protocol/spanner/status.h"
#include "spanner_model/sql/ast.h"

namespace whorl::model {

std::variant<ast::Statement, Status> Parse(std::string_view text);

}  // namespace whorl::model
