// A run that is stopped at some time, to look at it.
#pragma once

#include <cstdint>

#include "sim/instant.h"
#include "sim/run.h"
#include "sim/scenario.h"
#include "sim/world.h"

namespace whorl::sim {

// The world after the last event at or before `until`. `sink` may be null.
// REQUIRES: as RunScenario.
World RunUntil(const Scenario& scenario, uint64_t seed, Instant until, ObservationSink* sink);

}  // namespace whorl::sim
