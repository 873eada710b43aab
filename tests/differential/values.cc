#include "tests/differential/values.h"

#include <absl/strings/str_format.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace whorl::differential {
namespace {

std::vector<Value> MakeTimestamps() {
  std::vector<Value> values;
  for (const char* text : {"0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z",
                           "1970-01-01T00:00:00Z", "2020-02-29T12:34:56.123456789Z",
                           "2020-02-29T12:34:56.123456Z", "1969-12-31T23:59:59.999999999Z"}) {
    values.emplace_back(*ParseRfc3339(text));
  }
  return values;
}

const std::vector<Value>& Pool(Type type) {
  using Int64 = std::numeric_limits<int64_t>;
  using Double = std::numeric_limits<double>;
  static const auto& pools = *new std::array<std::vector<Value>, 6>{{
      {true, false},
      {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{-1}, int64_t{7}, int64_t{60}, Int64::max(),
       Int64::min(), int64_t{9007199254740993}},
      {Float64(0), Float64(1.5), Float64(-2.25), Float64(0.1), Float64(3), Float64(1e308),
       Float64(5e-324), Float64(Double::quiet_NaN()), Float64(Double::infinity()),
       Float64(-Double::infinity())},
      {std::string(), std::string("a"), std::string("b"), std::string("ab"), std::string("A'\""),
       std::string("\xC3\xA9"), std::string("\xE6\x97\xA5\xE6\x9C\xAC"), std::string("a%"),
       std::string("_b"), std::string("a\\n"), std::string("twenty characters !!"),
       std::string("42")},
      {Bytes{""}, Bytes{"a"}, Bytes{std::string("\0\xFF", 2)}, Bytes{"ab"}, Bytes{"\xC3\xA9"},
       Bytes{"twenty characters !!"}},
      MakeTimestamps(),
  }};
  return pools.at(static_cast<size_t>(type));
}

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    escaped += absl::StrFormat("\\x%02x", byte);
  }
  return escaped;
}

// A string literal in which only the necessary characters are escaped.
std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string FloatLiteral(double number) {
  if (std::isnan(number)) return "CAST('nan' AS FLOAT64)";
  if (std::isinf(number)) return number > 0 ? "CAST('inf' AS FLOAT64)" : "CAST('-inf' AS FLOAT64)";
  const std::string text = absl::StrFormat("%.17g", number);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace

Type DrawType(Draw& draw) { return static_cast<Type>(draw.Below(6)); }

Value DrawValue(Draw& draw, Type type) { return draw.Of(Pool(type)); }

std::string Literal(const Value& value, Type type) {
  if (IsNull(value)) return "CAST(NULL AS " + std::string(WordOf(type)) + ")";
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "TRUE" : "FALSE";
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<Float64>(&value)) return FloatLiteral(number->value());
  if (const auto* text = std::get_if<std::string>(&value)) return Quoted(*text);
  if (const auto* bytes = std::get_if<Bytes>(&value)) return "b'" + Escaped(bytes->data) + "'";
  return "TIMESTAMP '" + FormatRfc3339(std::get<Timestamp>(value)) + "'";
}

}  // namespace whorl::differential
