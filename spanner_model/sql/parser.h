// Parses a statement: SELECT, INSERT, UPDATE or DELETE of one table.
//
// Deliberately left out, and refused by name (`JOIN is not modelled`): joins, subqueries in the place of
// a table, set operations, WITH, INSERT OR REPLACE, THEN RETURN WITH ACTION. schema.h parses DDL. A new
// clause needs a function in parser.cc, a field in ast.h, and a step in binder.cc or select_binder.cc.
#pragma once

#include <string_view>
#include <variant>

#include "protocol/spanner/status.h"
#include "spanner_model/sql/ast.h"

namespace whorl::model {

std::variant<ast::Statement, Status> Parse(std::string_view text);

}  // namespace whorl::model
