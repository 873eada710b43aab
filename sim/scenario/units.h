// Durations as people write them in scenarios: "200ms", "1.5s", "-12s", "0s".
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "protocol/spanner/time.h"

namespace whorl::sim {

// One decimal number and one unit (ns, us, ms, s, m, h), whole nanoseconds, at most ten years
// either way; or else what is wrong with it, for the end of an error: `"5" has no unit; expected
// ...`.
std::variant<Duration, std::string> ParseDuration(std::string_view text);

// What is expected where a duration stands, for messages.
inline constexpr std::string_view kDurationExample = "a duration such as \"200ms\"";

}  // namespace whorl::sim
