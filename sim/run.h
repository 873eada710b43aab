// One run of one scenario: the world, its driver by virtual time and seed, the checkers and the
// rolling hash.
//
// Invariants:
//   1. Scenario + seed decides everything in RunResult, and every observation that a sink sees.
//   2. Whether a sink listens changes nothing: the checkers and the hash are always on.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/spanner/fields.h"
#include "sim/checkers.h"
#include "sim/observation.h"
#include "sim/scenario.h"

namespace whorl::sim {

// Hears every observation, in order. `ordinal` counts from 1; `hash` is the rolling hash of the
// run up to and including this observation.
class ObservationSink {
 public:
  virtual ~ObservationSink() = default;
  virtual void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) = 0;
};

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
