// The time zone America/Los_Angeles, Spanner's default for a text that names none.
//
// Invariant: the offsets follow the law as written down here, not the machine's time zone database,
// so that a text means the same on every machine.
// Deliberately left out: the years before 1967, when daylight time followed no rule, and all other
// zones.
#pragma once

#include <cstdint>
#include <optional>

namespace whorl::model {

// The offset in seconds east of UTC (so it is negative) at a time in seconds since 1970 UTC;
// nullopt before 1967.
std::optional<int64_t> LosAngelesOffset(int64_t utc_seconds);

// The time, in UTC, at which a clock in Los Angeles shows `local_seconds`. The hour that is skipped
// in spring and the one that occurs twice in autumn are read with the offset before the change, as
// Spanner does. nullopt before 1967.
std::optional<int64_t> LosAngelesToUtc(int64_t local_seconds);

}  // namespace whorl::model
