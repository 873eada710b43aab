// Lists the scalar functions with a plain signature in a table: a new one is a row here. Declares the operations
// on texts and numbers that they and the expressions use.
//
// Invariant: the functions are strict: if an argument is NULL, the result is NULL and `apply` is
// not called. Deliberately left out: functions whose arguments share a type of any kind (IF,
// COALESCE, GREATEST and so on), that take a date part, or that an access path uses (STARTS_WITH).
// They are nodes of their own (expression.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "protocol/spanner/status.h"
#include "protocol/spanner/value.h"
#include "spanner_model/sql/expression.h"

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

// Functions on STRING and BYTES. A character is a code point of UTF-8, or a byte of a BYTES.
//
// Invariant: any bytes are accepted, even those that are not UTF-8.

enum class TextUnit : uint8_t { kCharacter, kByte };

// The number of characters.
int64_t TextLength(std::string_view text, TextUnit unit);

// At most `length` characters from `position` on: 1 is the first, -1 the last character; 0 and
// positions before the first mean the first. REQUIRES: length >= 0.
std::string_view TextPart(std::string_view text, int64_t position, int64_t length, TextUnit unit);

// The position of `part`, from 1; 0 if it is not in the text.
int64_t TextPosition(std::string_view text, std::string_view part, TextUnit unit);

bool IsAscii(std::string_view text);

// LIKE: % matches any characters, _ one, and a backslash quotes the next one. nullopt if the
// pattern ends in a backslash.
std::optional<bool> MatchesPattern(std::string_view text, std::string_view pattern, TextUnit unit);

// Arithmetic on INT64 and FLOAT64, exact, with Spanner's errors instead of wrapped or infinite
// results; and the order that MIN, MAX, LEAST and GREATEST use.

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
