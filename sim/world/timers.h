// Timers of a process's part in one lock. They are set by the clock of its node.
#pragma once

#include <cstdint>

#include "sim/world/world_context.h"

namespace whorl::sim {

// Replaces the timer of this owner and id, if it is set.
void SetTimerAt(WorldContext& work, int16_t node, Participant& participant, TimerOwner owner,
                uint16_t id, LocalInstant local);
// Does nothing if the timer is not set.
void CancelTimerOf(WorldContext& work, Participant& participant, TimerOwner owner, uint16_t id);
// After the node's clock has begun to run in another way.
void RescheduleTimers(WorldContext& work, int16_t node);

}  // namespace whorl::sim
