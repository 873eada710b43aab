// Hosts the machine of active faults (fault_effects.h) in the simulated world.
#pragma once

#include <cstdint>

#include "sim/world/world_context.h"

namespace whorl::sim {

void OnFaultBegins(WorldContext& work, const FaultBegins& begins);
void OnFaultEnds(WorldContext& work, const FaultEnds& ends);

// Whether an armed fault loses the request or reply that the node's process sends or gets now.
bool LosesRequest(WorldContext& work, int16_t node);
bool LosesReply(WorldContext& work, int16_t node);
// The armed fault has struck with its answer.
void TakeArmed(WorldContext& work, int16_t node, uint32_t fault);

}  // namespace whorl::sim
