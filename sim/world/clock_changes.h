// Faults change a node's clock, and what is due by that clock is due at other times.
#pragma once

#include <cstdint>

#include "sim/scenario/scenario.h"
#include "sim/world/world_context.h"

namespace whorl::sim {

void SetClock(WorldContext& work, int16_t node, const ClockFault& change);
// One of the faults that make the clock stand is over. REQUIRES: the clock stands.
void ReleaseClock(WorldContext& work, int16_t node);
// The clock runs again, however many faults make it stand.
void LetClockRun(WorldContext& work, int16_t node);

}  // namespace whorl::sim
