#include "base/parse_duration.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>

#include "base/nearest_word.h"
#include "base/text.h"

namespace whorl {
namespace {

constexpr std::array<std::string_view, 6> kUnits = {"ns", "us", "ms", "s", "m", "h"};
constexpr std::array<int64_t, 6> kUnitNs = {
    1, 1'000, 1'000'000, 1'000'000'000, 60'000'000'000, 3'600'000'000'000};

// The parts of a text: [-] whole [. fraction] unit.
struct Parts {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  std::string_view unit;
};

std::string_view TakeDigits(std::string_view& text) {
  size_t n = 0;
  while (n < text.size() && IsDigit(text[n])) ++n;
  const std::string_view digits = text.substr(0, n);
  text.remove_prefix(n);
  return digits;
}

std::optional<Parts> NumberAndUnit(std::string_view text) {
  Parts parts;
  if (text.starts_with('-')) {
    parts.negative = true;
    text.remove_prefix(1);
  }
  parts.whole = TakeDigits(text);
  if (parts.whole.empty()) return std::nullopt;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    parts.fraction = TakeDigits(text);
    if (parts.fraction.empty()) return std::nullopt;
  }
  while (parts.fraction.ends_with('0')) parts.fraction.remove_suffix(1);
  parts.unit = text;
  return parts;
}

enum class Fit : uint8_t { kExact, kTooFine, kTooLong };

// The nanoseconds in whole.fraction units.
Fit ToNanoseconds(const Parts& parts, int64_t unit_ns, int64_t& ns) {
  ns = 0;
  for (const char digit : parts.whole) {
    ns = ns * 10 + (digit - '0');
    if (ns > kMaxDuration.ns / unit_ns) return Fit::kTooLong;
  }
  ns *= unit_ns;
  // An hour is 2^13 * 5^11 * 9 ns, so longer fractions are exact in no unit.
  constexpr size_t kMaxDigits = 13;
  if (parts.fraction.size() > kMaxDigits) return Fit::kTooFine;
  int64_t numerator = 0;
  int64_t denominator = 1;
  for (const char digit : parts.fraction) {
    numerator = numerator * 10 + (digit - '0');
    denominator *= 10;
  }
  // In lowest terms, unit_ns * numerator / denominator is whole only if numerator / denominator is.
  const int64_t common = std::gcd(unit_ns, denominator);
  denominator /= common;
  if (numerator % denominator != 0) return Fit::kTooFine;
  ns += numerator / denominator * (unit_ns / common);
  return ns > kMaxDuration.ns ? Fit::kTooLong : Fit::kExact;
}

}  // namespace

std::variant<Duration, std::string> ParseDuration(std::string_view text) {
  const std::string expected = Cat("expected ", kDurationExample, " (units: ", ListOf(kUnits), ")");
  const std::optional<Parts> parts = NumberAndUnit(text);
  if (!parts.has_value()) return Cat(expected, ", got the string ", Quoted(text));
  if (parts->unit.empty()) return Cat(Quoted(text), " has no unit; ", expected);
  for (size_t i = 0; i < kUnits.size(); ++i) {
    if (parts->unit != kUnits[i]) continue;
    int64_t ns = 0;
    switch (ToNanoseconds(*parts, kUnitNs[i], ns)) {
      case Fit::kExact:
        return Duration{parts->negative ? -ns : ns};
      case Fit::kTooFine:
        return Cat(Quoted(text), " is no whole number of nanoseconds");
      case Fit::kTooLong:
        return Cat(Quoted(text), " is beyond ten years (",
                   std::to_string(kMaxDuration.ns / kUnitNs.back()), "h)");
    }
  }
  // For "1 s", suggest "1s" rather than "1ns".
  const size_t spaces = std::min(parts->unit.find_first_not_of(' '), parts->unit.size());
  const std::string hint = DidYouMean(parts->unit.substr(spaces), kUnits);
  return Cat("unknown unit ", Quoted(parts->unit), " in ", Quoted(text), hint,
             hint.empty() ? "; " : " ", expected);
}

}  // namespace whorl
