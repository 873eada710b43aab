// Hosts the machine of active faults (fault_effects.h) in the simulated world.
#pragma once

#include <cstdint>

#include "sim/world/world_work.h"

namespace whorl::sim {

void OnFaultBegins(Work& work, const FaultBegins& begins);
void OnFaultEnds(Work& work, const FaultEnds& ends);

// Whether an armed fault loses the request or reply that the node's process sends or gets now.
bool LosesRequest(Work& work, int16_t node);
bool LosesReply(Work& work, int16_t node);
// The armed fault has struck with its answer.
void TakeArmed(Work& work, int16_t node, uint32_t fault);

}  // namespace whorl::sim
