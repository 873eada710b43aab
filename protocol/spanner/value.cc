#include "protocol/spanner/value.h"

#include <array>
#include <charconv>
#include <cstddef>

namespace whorl {
namespace {

std::weak_ordering CompareFloats(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(b) <=> std::isnan(a);
  if (a < b) return std::weak_ordering::less;
  return a > b ? std::weak_ordering::greater : std::weak_ordering::equivalent;
}

std::string FormatHex(const std::string& data) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "b'";
  for (const char c : data) {
    const auto byte = static_cast<unsigned char>(c);
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  out.push_back('\'');
  return out;
}

std::string FormatFloat(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

}  // namespace

std::weak_ordering CompareValues(const Value& a, const Value& b) {
  if (IsNull(a) || IsNull(b)) return IsNull(b) <=> IsNull(a);
  if (const auto* text = std::get_if<std::string>(&a)) return *text <=> std::get<std::string>(b);
  if (const auto* flag = std::get_if<bool>(&a)) return *flag <=> std::get<bool>(b);
  if (const auto* number = std::get_if<int64_t>(&a)) return *number <=> std::get<int64_t>(b);
  if (const auto* bytes = std::get_if<Bytes>(&a)) return bytes->data <=> std::get<Bytes>(b).data;
  if (const auto* time = std::get_if<Timestamp>(&a)) return *time <=> std::get<Timestamp>(b);
  return CompareFloats(std::get<Float64>(a).value(), std::get<Float64>(b).value());
}

std::string FormatValue(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "TRUE" : "FALSE";
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* real = std::get_if<Float64>(&value)) return FormatFloat(real->value());
  if (const auto* text = std::get_if<std::string>(&value)) return "'" + *text + "'";
  if (const auto* bytes = std::get_if<Bytes>(&value)) return FormatHex(bytes->data);
  if (const auto* time = std::get_if<Timestamp>(&value)) return FormatRfc3339(*time);
  return "NULL";
}

}  // namespace whorl
