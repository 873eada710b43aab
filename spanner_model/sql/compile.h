// From the text of a statement to its plan.
//
// Invariants:
//   1. Compile is a pure function of its arguments and accepts any bytes: a bad text is an
//      INVALID_ARGUMENT Status in Spanner's words, with ` [at line:column]`, the line and a caret
//      under the place. SQL that Spanner knows and the model does not ends in `is not modelled`.
//   2. The plan refers to nothing of `text` or `parameters`.
//   3. Nested parentheses, operators and calls deeper than kMaxDepth are an error.
// Deliberately left out: a cache of plans (the database keeps one, by Sql::index()).
#pragma once

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

std::variant<Plan, Status> Compile(const Schema& schema, std::string_view text,
                                   std::span<const Parameter> parameters);

// All parameters of the text with their types: the declared ones first, as they are, then those
// that it mentions without declaration, in the order of first mention, each at the type at which it
// is used: that of the column, function or other operand, INT64 where nothing asks for one. The
// error of a text that does not compile, or that uses one at two types.
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
