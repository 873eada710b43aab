// Draws worlds around a scenario, for a hunt that starts from one.
//
// Invariants:
//   1. Run 0 is the scenario as it stands, with its seed and its schedule.
//   2. Each other run has another seed, of the schedule a part from its beginning (so that virtual time
//      decides what follows), mostly the faults of the scenario, and up to two that a hunt would draw.
//   3. A variation is a valid scenario: written as text, it loads.
#pragma once

#include <cstdint>

#include "sim/hunt/world_generator.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// `options` says which faults may be added. REQUIRES: the scenario came from the loader.
Scenario VariationOf(const Scenario& scenario, const WorldOptions& options, uint64_t run,
                     uint64_t seed);

}  // namespace whorl::sim
