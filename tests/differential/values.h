// Draws from few values, so that keys coincide, among them the extremes of their types.
#pragma once

#include <string>

#include "protocol/spanner/value.h"
#include "tests/differential/draw.h"

namespace whorl::differential {

Type DrawType(Draw& draw);
// Not NULL. A timestamp is at least a year away from now.
Value DrawValue(Draw& draw, Type type);
// The value as an expression of SQL: a literal, or the cast of one.
std::string Literal(const Value& value, Type type);

}  // namespace whorl::differential
