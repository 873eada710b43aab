#include "sim/scenario/number_text.h"

#include <cstddef>

#include "protocol/spanner/seconds_text.h"

namespace whorl::sim {

std::string SecondsText(Duration duration, int digits) {
  if (digits == 9) return FormatSeconds(duration);
  // Unsigned, since int64_t cannot hold the magnitude of its smallest value.
  const bool negative = duration.ns < 0;
  uint64_t magnitude = static_cast<uint64_t>(duration.ns);
  if (negative) magnitude = ~magnitude + 1;
  uint64_t unit = 1;  // nanoseconds in the last digit
  for (int digit = digits; digit < 9; ++digit) unit *= 10;
  const uint64_t units = (magnitude + unit / 2) / unit;
  const uint64_t units_per_second = 1'000'000'000 / unit;
  std::string text = negative && units > 0 ? "-" : "";
  text += std::to_string(units / units_per_second);
  if (digits == 0) return text;
  const std::string fraction = std::to_string(units % units_per_second);
  return text + "." + std::string(static_cast<size_t>(digits) - fraction.size(), '0') + fraction;
}

std::string HashText(uint64_t hash) {
  std::string text(16, '0');
  for (size_t i = 16; i-- > 0; hash >>= 4) text[i] = "0123456789abcdef"[hash & 15];
  return text;
}

std::string GroupedText(int64_t number) {
  std::string text = std::to_string(number);
  const size_t first_digit = number < 0 ? 1 : 0;
  for (size_t i = text.size(); i > first_digit + 3;) text.insert(i -= 3, ",");
  return text;
}

std::string CountText(int64_t count, std::string_view one, std::string_view many) {
  return GroupedText(count) + " " + std::string(count == 1 ? one : many);
}

}  // namespace whorl::sim
