// The scalar functions with a plain signature, as a table: a new one is a row here.
//
// Invariant: the functions are strict: if an argument is NULL, the result is NULL and `apply` is
// not called. Deliberately left out: functions whose arguments share a type of any kind (IF,
// COALESCE, GREATEST and so on), that take a date part, or that an access path uses (STARTS_WITH).
// They are nodes of their own (expression.h).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "protocol/spanner/status.h"
#include "protocol/spanner/value.h"

namespace whorl::model {

inline constexpr size_t kMaxArguments = 3;

struct ScalarFunction {
  std::string_view name;  // in capitals; LIKE is the operator
  std::span<const Type> parameters;
  size_t required = 0;  // the number of required arguments; the others may be left out
  Type result = Type::kInt64;
  // REQUIRES: at least `required` arguments of the types above, none NULL.
  Status (*apply)(std::span<const Value> arguments, Value& result) = nullptr;
};

// Signatures of one name are adjacent, in the order in which the binder tries them.
std::span<const ScalarFunction> ScalarFunctions();

}  // namespace whorl::model
