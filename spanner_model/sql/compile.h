// Compiles the text of a statement to its plan.
//
// Invariants:
//   1. Compile is a pure function of its arguments and accepts any bytes. An invalid text gives
//      INVALID_ARGUMENT in Spanner's words, with ` [at line:column]`, the line and a caret under
//      the position. The error for SQL that Spanner supports and the model does not ends in `is not
//      modelled`.
//   2. The plan does not refer to `text` or `parameters`.
//   3. Nested parentheses, operators and calls deeper than kMaxDepth are an error, as are a text and a number
//      of parameters beyond Spanner's limits. So the time that a text takes is linear in its length.
// Deliberately left out: a cache of plans (the database keeps one, by Sql::index()).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/spanner/sql.h"
#include "protocol/spanner/status.h"
#include "spanner_model/schema.h"
#include "spanner_model/sql/plan.h"

namespace whorl::model {

inline constexpr int kMaxDepth = 100;
// Spanner's limits (cloud.google.com/spanner/quotas, 2026-11).
inline constexpr size_t kTextMax = 1'000'000;  // characters
inline constexpr size_t kParametersMax = 950;  // of a query that uses one

std::variant<Plan, Status> Compile(const Schema& schema, std::string_view text,
                                   std::span<const Parameter> parameters);

// All parameters of the text with their types: first the declared ones, then the undeclared ones in
// the order of first mention. An undeclared parameter has the type that its use requires (that of
// the column, the function or the other operand), or INT64 if its use requires none. An error if
// the text does not compile, or if it uses an undeclared parameter at two types.
std::variant<std::vector<Parameter>, Status> InferParameters(const Schema& schema,
                                                             std::string_view text,
                                                             std::span<const Parameter> declared);

inline std::variant<Plan, Status> Compile(const Schema& schema, const Sql& sql) {
  return Compile(schema, sql.text(), sql.parameters());
}
inline std::variant<Plan, Status> Compile(const Schema& schema, const SqlText& sql) {
  return Compile(schema, sql.text, sql.parameters);
}

}  // namespace whorl::model
