// Spanner's own clocks: TrueTime, and the one that CURRENT_TIMESTAMP reads.
#pragma once

#include "sim/world/fault_effects.h"
#include "sim/world/world_work.h"

namespace whorl::sim {

// The least time until a parked transaction is looked at again, so that time moves on in between.
inline constexpr Duration kLookAgainMin = Milliseconds(1);

// What the clocks show now.
model::Moment MomentNow(const Work& work);
// The first instant at which TT.after(commit) holds.
Instant WhenSurelyPast(const Work& work, Timestamp commit);
// The first instant at which TT.now().latest, the server's time, is at or after `server_time`.
Instant WhenServerShows(const Work& work, Timestamp server_time);

void SetClocksOfSpanner(Work& work, const SetSpannerClocks& set);

}  // namespace whorl::sim
