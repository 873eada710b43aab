#include "spanner_model/sql/arithmetic.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace whorl::model {
namespace {

std::string_view Sign(Op op) {
  switch (op) {
    case Op::kAdd:
      return " + ";
    case Op::kSubtract:
      return " - ";
    case Op::kMultiply:
      return " * ";
    default:
      return " / ";
  }
}

std::string Describe(std::string_view left, Op op, std::string_view right) {
  return std::string(left) + std::string(Sign(op)) + std::string(right);
}

}  // namespace

std::optional<int64_t> ComputeInt64(Op op, int64_t left, int64_t right) {
  int64_t result = 0;
  bool overflow = false;
  if (op == Op::kAdd) {
    overflow = __builtin_add_overflow(left, right, &result);
  } else if (op == Op::kSubtract) {
    overflow = __builtin_sub_overflow(left, right, &result);
  } else {
    overflow = __builtin_mul_overflow(left, right, &result);
  }
  if (overflow) return std::nullopt;
  return result;
}

std::optional<double> ComputeFloat64(Op op, double left, double right) {
  double result = 0;
  switch (op) {
    case Op::kAdd:
      result = left + right;
      break;
    case Op::kSubtract:
      result = left - right;
      break;
    case Op::kMultiply:
      result = left * right;
      break;
    default:
      if (right == 0) return std::nullopt;
      result = left / right;
      break;
  }
  if (!std::isfinite(result) && std::isfinite(left) && std::isfinite(right)) return std::nullopt;
  return result;
}

Status OutOfRange(const std::string& message) { return Error(Code::kOutOfRange, message); }

Status Int64Overflow(Op op, int64_t left, int64_t right) {
  return Error(Code::kOutOfRange,
               "int64 overflow: " + Describe(std::to_string(left), op, std::to_string(right)));
}

Status Float64Error(Op op, double left, double right) {
  const bool by_zero = op == Op::kDivide && right == 0;
  return Error(Code::kOutOfRange, (by_zero ? "division by zero: " : "double overflow: ") +
                                      Describe(FormatShort(left), op, FormatShort(right)));
}

Status NegationOverflow(int64_t operand) {
  return Error(Code::kOutOfRange, "int64 overflow: -" + std::to_string(operand));
}

bool Surpasses(Extreme extreme, const Value& candidate, const Value& best) {
  const auto is_nan = [](const Value& value) {
    const auto* number = std::get_if<Float64>(&value);
    return number != nullptr && std::isnan(number->value());
  };
  if (is_nan(best)) return false;
  if (is_nan(candidate)) return true;
  const std::weak_ordering order = CompareValues(candidate, best);
  return extreme == Extreme::kLeast ? order < 0 : order > 0;
}

std::string FormatShort(double number) {
  std::array<char, 32> text{};
  const auto result =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::general, 6);
  return {text.data(), result.ptr};
}

}  // namespace whorl::model
