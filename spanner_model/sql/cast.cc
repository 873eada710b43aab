#include "spanner_model/sql/cast.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/utf8.h"
#include "spanner_model/sql/functions.h"
#include "spanner_model/sql/timestamp_text.h"
#include "spanner_model/sql/words.h"

namespace whorl::model {
namespace {

using CastResult = std::variant<Value, Status>;

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\r\f\v";
  const size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

// Accepts decimal digits, or 0x and hexadecimal ones, with an optional sign.
CastResult ParseInt64(const std::string& text) {
  const Status bad = OutOfRange("Bad int64 value: " + text);
  std::string_view digits = Trimmed(text);
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (hex) digits.remove_prefix(2);
  uint64_t magnitude = 0;
  const char* const end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, magnitude, hex ? 16 : 10);
  if (digits.empty() || result.ec != std::errc() || result.ptr != end) return bad;
  constexpr uint64_t kMinimum = uint64_t{1} << 63;
  if (magnitude > kMinimum || (magnitude == kMinimum && !negative)) return bad;
  // In two's complement this is -magnitude, also for the least INT64.
  return Value(static_cast<int64_t>(negative ? uint64_t{0} - magnitude : magnitude));
}

// Accepts what strtod does, like Spanner: also hexadecimal, inf and nan; too large means infinite.
CastResult ParseFloat64(const std::string& text) {
  const std::string number(Trimmed(text));
  const bool wrong = number.empty() || number.find_first_of("()", 0) != std::string::npos ||
                     number.find('\0') != std::string::npos;
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (wrong || end != number.c_str() + number.size()) {
    return OutOfRange("Bad double value: " + text);
  }
  return Value(Float64(value));
}

CastResult ParseBool(const std::string& text) {
  if (EqualIgnoringCase(text, "true")) return Value(true);
  if (EqualIgnoringCase(text, "false")) return Value(false);
  return OutOfRange("Bad bool value: " + text);
}

// Writes 15 digits, or 17 if 15 do not read back as the same number.
std::string FormatFloat64(double number) {
  if (std::isnan(number)) return "nan";
  std::array<char, 32> text{};
  for (const int digits : {15, 17}) {
    const auto written = std::to_chars(text.data(), text.data() + text.size(), number,
                                       std::chars_format::general, digits);
    *written.ptr = '\0';
    if (std::strtod(text.data(), nullptr) == number) break;
  }
  return text.data();
}

CastResult RoundToInt64(double number) {
  if (!std::isfinite(number)) {
    return OutOfRange("Illegal conversion of non-finite floating point number to an integer: " +
                      FormatShort(number));
  }
  const double rounded = std::round(number);  // halves away from zero
  constexpr double kLimit = 9223372036854775808.0;
  if (rounded < -kLimit || rounded >= kLimit) {
    return OutOfRange("int64 out of range: " + FormatShort(number));
  }
  return Value(static_cast<int64_t>(rounded));
}

Value ToFloat32(const Value& number) {
  return Float64(static_cast<float>(std::get<Float64>(number).value()));
}

CastResult FromString(const std::string& text, Type to) {
  switch (to) {
    case Type::kBool:
      return ParseBool(text);
    case Type::kInt64:
      return ParseInt64(text);
    case Type::kFloat64:
      return ParseFloat64(text);
    case Type::kBytes:
      return Value(Bytes{text});
    case Type::kTimestamp:
      return TimestampOf(text);
    case Type::kFloat32: {
      auto number = ParseFloat64(text);
      if (auto* value = std::get_if<Value>(&number)) *value = ToFloat32(*value);
      return number;
    }
    case Type::kDate: {
      auto date = NormalDate(text);
      if (!date) return OutOfRange("Invalid date: '" + text + "'");
      return Value(*std::move(date));
    }
    case Type::kNumeric: {
      auto number = NormalNumeric(Trimmed(text));
      if (!number) return OutOfRange("Invalid NUMERIC value: " + text);
      return Value(*std::move(number));
    }
    case Type::kString:
    case Type::kJson:
    case Type::kBoolArray:
    case Type::kInt64Array:
    case Type::kFloat64Array:
    case Type::kStringArray:
    case Type::kBytesArray:
    case Type::kTimestampArray:
    case Type::kDateArray:
    case Type::kNumericArray:
    case Type::kJsonArray:
    case Type::kFloat32Array:
      break;
  }
  return Value(text);
}

CastResult ToString(const Value& value, Type from) {
  switch (from) {
    case Type::kBool:
      return Value(std::string(std::get<bool>(value) ? "true" : "false"));
    case Type::kInt64:
      return Value(std::to_string(std::get<int64_t>(value)));
    case Type::kFloat64:
      return Value(FormatFloat64(std::get<Float64>(value).value()));
    case Type::kBytes: {
      const std::string& data = std::get<Bytes>(value).data;
      if (!IsUtf8(data)) return OutOfRange("Invalid cast of bytes to UTF8 string");
      return Value(data);
    }
    case Type::kTimestamp: {
      const auto text = FormatInLosAngeles(std::get<Timestamp>(value));
      if (text) return Value(*text);
      return Error(Code::kInvalidArgument,
                   "CAST of a TIMESTAMP before 1967 to STRING is not modelled");
    }
    // Values that are texts already. Of the rest there is no cast to STRING, see CanCast.
    case Type::kString:
    case Type::kDate:
    case Type::kNumeric:
    case Type::kJson:
    case Type::kFloat32:
    case Type::kBoolArray:
    case Type::kInt64Array:
    case Type::kFloat64Array:
    case Type::kStringArray:
    case Type::kBytesArray:
    case Type::kTimestampArray:
    case Type::kDateArray:
    case Type::kNumericArray:
    case Type::kJsonArray:
    case Type::kFloat32Array:
      break;
  }
  return value;
}

}  // namespace

bool CanCast(Type from, Type to) {
  using enum Type;
  if (from == to) return true;
  switch (from) {
    case kBool:
      return to == kInt64 || to == kString;
    case kInt64:
      return to == kBool || to == kFloat64 || to == kFloat32 || to == kNumeric || to == kString;
    case kFloat64:
      return to == kInt64 || to == kFloat32 || to == kString;
    case kFloat32:
      return to == kFloat64;
    case kNumeric:
      return to == kFloat64 || to == kString;
    case kString:
      return !IsArray(to) && to != kJson;
    case kBytes:
    case kDate:
    case kTimestamp:
      return to == kString;
    case kJson:
    case kBoolArray:
    case kInt64Array:
    case kFloat64Array:
    case kStringArray:
    case kBytesArray:
    case kTimestampArray:
    case kDateArray:
    case kNumericArray:
    case kJsonArray:
    case kFloat32Array:
      break;
  }
  return false;
}

namespace {

CastResult CastElements(const Array& array, Type from, Type to) {
  Array result;
  for (const Value& element : array.elements) {
    auto cast = IsNull(element) ? CastResult(element) : CastValue(element, from, to);
    if (auto* error = std::get_if<Status>(&cast)) return std::move(*error);
    result.elements.push_back(std::get<Value>(std::move(cast)));
  }
  return Value(std::move(result));
}

}  // namespace

CastResult TimestampOf(const std::string& text) {
  const auto parsed = ParseTimestampText(text);
  if (const auto* timestamp = std::get_if<Timestamp>(&parsed)) return Value(*timestamp);
  if (std::get<TimestampTextError>(parsed) == TimestampTextError::kInvalid) {
    return OutOfRange("Invalid timestamp: '" + text + "'");
  }
  return Error(Code::kInvalidArgument, "The time zone of timestamp '" + text +
                                           "', or its rules before 1967, is not modelled");
}

CastResult CastValue(const Value& value, Type from, Type to) {
  if (from == to) return value;
  if (IsArray(from)) return CastElements(std::get<Array>(value), ElementOf(from), ElementOf(to));
  if (from == Type::kString) return FromString(std::get<std::string>(value), to);
  if (to == Type::kString) return ToString(value, from);
  if (from == Type::kFloat32) return value;
  if (from == Type::kNumeric) return ParseFloat64(std::get<std::string>(value));
  if (from == Type::kFloat64) {
    const double number = std::get<Float64>(value).value();
    if (to == Type::kFloat32) return ToFloat32(value);
    if (to == Type::kInt64) return RoundToInt64(number);
    return FromString(FormatFloat64(number), to);
  }
  if (from == Type::kBool) return Value(int64_t{std::get<bool>(value) ? 1 : 0});
  const int64_t number = std::get<int64_t>(value);
  if (to == Type::kBool) return Value(number != 0);
  if (to == Type::kNumeric) return Value(std::to_string(number));
  if (to == Type::kFloat32) return ToFloat32(Float64(static_cast<double>(number)));
  return Value(Float64(static_cast<double>(number)));
}

}  // namespace whorl::model
