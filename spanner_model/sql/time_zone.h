// The time zone of America/Los_Angeles, which Spanner takes where a text names none.
//
// Invariant: the offsets come from the rules of the law, written down here, not from a database of
// the machine, so that a text means the same everywhere.
// Deliberately left out: the years before 1967, whose daylight time followed no rule, and every
// other zone.
#pragma once

#include <cstdint>
#include <optional>

namespace whorl::model {

// Seconds east of UTC (negative) at this time, seconds after 1970 UTC; nothing before 1967.
std::optional<int64_t> LosAngelesOffset(int64_t utc_seconds);

// The time at which a clock in Los Angeles shows `local_seconds`, counted as if it were UTC. An
// hour that is skipped in spring, and one that comes twice in autumn, are read with the offset
// that held before the change, as Spanner does. Nothing before 1967.
std::optional<int64_t> LosAngelesToUtc(int64_t local_seconds);

}  // namespace whorl::model
