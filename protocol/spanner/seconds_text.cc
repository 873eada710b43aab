#include "protocol/spanner/seconds_text.h"

#include <cstddef>
#include <cstdint>

namespace whorl {

std::string FormatSeconds(Duration duration) {
  constexpr uint64_t kSecond = 1'000'000'000;
  constexpr size_t kDigits = 9;
  // Unsigned, since int64_t cannot hold the magnitude of its smallest value.
  const bool is_negative = duration.ns < 0;
  uint64_t magnitude = static_cast<uint64_t>(duration.ns);
  if (is_negative) magnitude = ~magnitude + 1;
  const std::string fraction = std::to_string(magnitude % kSecond);
  return (is_negative ? "-" : "") + std::to_string(magnitude / kSecond) + "." +
         std::string(kDigits - fraction.size(), '0') + fraction;
}

}  // namespace whorl
