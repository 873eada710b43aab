// Arithmetic on INT64 and FLOAT64, exact, with Spanner's errors instead of wrapped or infinite
// results; and the order that MIN, MAX, LEAST and GREATEST use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/spanner/status.h"
#include "protocol/spanner/value.h"
#include "spanner_model/sql/expression.h"

namespace whorl::model {

// nullopt on overflow. REQUIRES: op is kAdd, kSubtract or kMultiply.
std::optional<int64_t> ComputeInt64(Op op, int64_t left, int64_t right);
// nullopt if finite operands have no finite result, and on division by zero.
// REQUIRES: op is kAdd, kSubtract, kMultiply or kDivide.
std::optional<double> ComputeFloat64(Op op, double left, double right);

// OUT_OF_RANGE, in Spanner's words.
Status OutOfRange(const std::string& message);
Status Int64Overflow(Op op, int64_t left, int64_t right);
Status Float64Error(Op op, double left, double right);
Status NegationOverflow(int64_t operand);

// For MIN, MAX, LEAST and GREATEST: whether the candidate replaces the best value so far. A NaN
// replaces every number and stays. REQUIRES: both have the same type, neither is NULL.
enum class Extreme : uint8_t { kLeast, kGreatest };
bool Surpasses(Extreme extreme, const Value& candidate, const Value& best);

// The number as messages write it: six significant digits, "1e+308", "nan".
std::string FormatShort(double number);

}  // namespace whorl::model
