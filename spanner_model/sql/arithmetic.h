// Arithmetic on INT64 and FLOAT64: exact, with Spanner's errors instead of wrapped or infinite
// results; and what is the least and the greatest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/spanner/status.h"
#include "protocol/spanner/value.h"
#include "spanner_model/sql/expression.h"

namespace whorl::model {

// Nothing on overflow. REQUIRES: op is kAdd, kSubtract or kMultiply.
std::optional<int64_t> ComputeInt64(Op op, int64_t left, int64_t right);
// Nothing when finite operands have no finite result, and on a division by zero.
// REQUIRES: op is kAdd, kSubtract, kMultiply or kDivide.
std::optional<double> ComputeFloat64(Op op, double left, double right);

// OUT_OF_RANGE, in Spanner's words.
Status OutOfRange(const std::string& message);
Status Int64Overflow(Op op, int64_t left, int64_t right);
Status Float64Error(Op op, double left, double right);
Status NegationOverflow(int64_t operand);

// MIN, MAX, LEAST and GREATEST: whether the candidate takes the place of the best so far. A NaN
// takes it from every number, and keeps it. REQUIRES: both of one type, neither NULL.
enum class Extreme : uint8_t { kLeast, kGreatest };
bool Surpasses(Extreme extreme, const Value& candidate, const Value& best);

// As messages write a number: six significant digits, "1e+308", "nan".
std::string FormatShort(double number);

}  // namespace whorl::model
