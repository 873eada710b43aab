// Draws whole worlds to hunt in, in swarm style: each leaves out most of what could be in it, so
// that what is left comes in unusual doses.
//
//   |<-- safety phase: faults -->|<-- liveness phase: they have ended -->|
//
// Invariants:
//   1. A world is a function of its options, the protocol and the seed, on every compiler.
//   2. It is a scenario as the loader promises one: written as text, it loads.
//   3. Its timed faults end within the safety phase. Those that wait for a step strike when it
//      comes, mostly then.
//   4. Unless it may go beyond them, it keeps the assumptions under which the protocol promises.
// Deliberately left out: whether a fault that waits for a step will ever strike.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/protocols.h"
#include "protocol/spanner/time.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

struct WorldOptions {
  std::vector<FaultKind> kinds;  // that may strike; all when empty
  bool beyond_assumptions = false;
  Duration duration = Seconds(120);
  Duration lease_min;        // no lease is shorter, whatever the protocol allows
  int64_t rate_ppm_max = 0;  // of clocks, either way; 0: what the protocol assumes of them
  WHORL_FIELDS(WorldOptions, kinds, beyond_assumptions, duration, lease_min, rate_ppm_max);
};

// REQUIRES: duration >= 10 s.
Scenario DrawWorld(const WorldOptions& options, const ProtocolInfo& protocol, uint64_t seed);

}  // namespace whorl::sim
