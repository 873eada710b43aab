// Runs a scenario and judges it: a world driven by virtual time and seed, with every checker.
//
// Invariants:
//   1. A scenario and a seed decide everything in RunResult, and every observation.
//   2. A sink changes nothing: the checkers and the hash are always on.
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

// `sink` may be null. REQUIRES: the scenario came from the loader, or is valid as the loader would
// have it.
RunResult RunScenario(const Scenario& scenario, uint64_t seed, ObservationSink* sink);

}  // namespace whorl::sim
