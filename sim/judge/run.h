// One run of one scenario, judged: the world, driven by virtual time and seed, and every checker.
//
// Invariants:
//   1. Scenario + seed decides everything in RunResult, and every observation that a sink hears.
//   2. Whether a sink listens changes nothing: the checkers and the hash are always on.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/spanner/fields.h"
#include "sim/judge/check_report.h"
#include "sim/scenario/scenario.h"
#include "sim/world/driver.h"

namespace whorl::sim {

struct RunResult {
  uint64_t seed = 0;
  uint64_t hash = 0;    // over all events and observations
  uint64_t events = 0;  // choices taken
  uint64_t observations = 0;
  Duration simulated;
  CheckReport checks;
  std::vector<uint32_t> unfired_faults;  // indexes of declared faults that never struck
  WHORL_FIELDS(RunResult, seed, hash, events, observations, simulated, checks, unfired_faults);
};

// REQUIRES: the scenario came from the loader, or keeps its promises. `sink` may be null.
RunResult RunScenario(const Scenario& scenario, uint64_t seed, ObservationSink* sink);

}  // namespace whorl::sim
