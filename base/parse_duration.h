// Reads durations as scenarios and options have them: "200ms", "1.5s", "-12s", "0s".
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/time.h"

namespace whorl {

inline constexpr Duration kMaxDuration = Seconds(int64_t{10} * 365 * 24 * 3600);  // ten years

// Parses a decimal number and a unit (ns, us, ms, s, m, h) that make whole nanoseconds, at most
// kMaxDuration either way. Otherwise returns what is wrong: `"5" has no unit; expected ...`.
std::variant<Duration, std::string> ParseDuration(std::string_view text);

// What is expected where there should be a duration, for messages.
inline constexpr std::string_view kDurationExample = "a duration such as \"200ms\"";

}  // namespace whorl
