// Draws the faults of a world; only world_generator.cc calls it.
#pragma once

#include "sim/hunt/shared_capabilities.h"
#include "sim/hunt/world_generator.h"
#include "sim/scenario/scenario.h"
#include "sim/world/draws.h"

namespace whorl::sim {

// Adds faults to a world without any. `safety` is the length of the safety phase. REQUIRES:
// everything else in the world has been drawn.
void DrawFaults(const WorldOptions& options, const SharedCapabilities& ground, Duration safety,
                Draws& draws, Scenario& world);

}  // namespace whorl::sim
