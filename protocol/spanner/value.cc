#include "protocol/spanner/value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <system_error>
#include <utility>

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

std::string Padded(int number, size_t width) {
  const std::string digits = std::to_string(number);
  return std::string(width - std::min(width, digits.size()), '0') + digits;
}

std::string FormatArray(const Array& array) {
  std::string out;
  for (const Value& element : array.elements) {
    out += (out.empty() ? "[" : ", ") + FormatValue(element);
  }
  return out.empty() ? "[]" : out + "]";
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

std::strong_ordering CompareNumerics(std::string_view a, std::string_view b) {
  const bool negative = a.starts_with('-');
  if (negative != b.starts_with('-')) {
    return negative ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  if (negative) {
    std::swap(a, b);
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  // The number with more digits before the point is larger; of as many, the digits decide.
  const size_t a_point = std::min(a.find('.'), a.size());
  const size_t b_point = std::min(b.find('.'), b.size());
  if (a_point != b_point) return a_point <=> b_point;
  return a <=> b;
}

std::optional<std::string> NormalDate(std::string_view text) {
  std::array<int, 3> parts{};  // year, month, day
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) {
      if (!text.starts_with('-')) return std::nullopt;
      text.remove_prefix(1);
    }
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const size_t most = i == 0 ? 4 : 2;
    if (digits == 0 || digits > most) return std::nullopt;
    std::from_chars(text.data(), text.data() + digits, parts[i]);
    text.remove_prefix(digits);
  }
  std::string normal = Padded(parts[0], 4) + "-" + Padded(parts[1], 2) + "-" + Padded(parts[2], 2);
  if (!text.empty() || !ParseRfc3339(normal + "T00:00:00Z")) return std::nullopt;
  return normal;
}

std::optional<std::string> NormalNumeric(std::string_view text) {
  constexpr size_t kMostWhole = 29;
  constexpr size_t kMostFraction = 9;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int exponent = 0;
  if (const size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    std::string_view power = text.substr(e + 1);
    if (power.starts_with('+')) power.remove_prefix(1);
    const char* const end = power.data() + power.size();
    const auto read = std::from_chars(power.data(), end, exponent);
    constexpr int kMostExponent = 100;
    if (read.ec != std::errc() || read.ptr != end || std::abs(exponent) > kMostExponent) {
      return std::nullopt;
    }
    text = text.substr(0, e);
  }
  const size_t point = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, point));
  auto whole = static_cast<std::ptrdiff_t>(point) + exponent;
  if (point < text.size()) digits += text.substr(point + 1);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  if (whole < 0) {
    digits.insert(0, static_cast<size_t>(-whole), '0');
    whole = 0;
  }
  if (static_cast<size_t>(whole) > digits.size()) digits.resize(static_cast<size_t>(whole), '0');
  std::string before = digits.substr(0, static_cast<size_t>(whole));
  std::string after = digits.substr(static_cast<size_t>(whole));
  before.erase(0, std::min(before.find_first_not_of('0'), before.size()));
  after.erase(after.find_last_not_of('0') + 1);
  if (before.size() > kMostWhole || after.size() > kMostFraction) return std::nullopt;
  std::string normal = before.empty() ? "0" : before;
  if (!after.empty()) normal += "." + after;
  return negative && normal != "0" ? "-" + normal : normal;
}

std::string FormatValue(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "TRUE" : "FALSE";
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* real = std::get_if<Float64>(&value)) return FormatFloat(real->value());
  if (const auto* text = std::get_if<std::string>(&value)) return "'" + *text + "'";
  if (const auto* bytes = std::get_if<Bytes>(&value)) return FormatHex(bytes->data);
  if (const auto* time = std::get_if<Timestamp>(&value)) return FormatRfc3339(*time);
  if (const auto* array = std::get_if<Array>(&value)) return FormatArray(*array);
  return "NULL";
}

}  // namespace whorl
