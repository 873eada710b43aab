// Draws complete worlds to hunt in, in swarm style: each world uses only a few of the possible kinds of
// faults and settings, so these are frequent in it.
//
//   |<-- safety phase: faults -->|<-- liveness phase: faults have ended -->|
//
// Of a thousand worlds of the usual duration, a few last twenty minutes, and a few have an hour before their
// safety phase in which nothing happens.
//
// Invariants:
//   1. A world is a function of its options, the protocols and the seed, with every compiler.
//   2. A world is a valid scenario: written as text, it loads.
//   3. Timed faults end within the safety phase. Faults that wait for a step strike when it comes,
//      mostly within that phase.
//   4. A world keeps the assumptions of the protocols' promises unless the options allow otherwise.
// Deliberately left out: whether a fault that waits for a step will ever strike.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "protocol/protocols.h"
#include "sim/hunt/shared_capabilities.h"
#include "sim/scenario/scenario.h"
#include "sim/world/draws.h"

namespace whorl::sim {

// How a world is drawn. kUniform is there to be compared with kSwarm (tests/mutants/searches.sh).
enum class Style : uint8_t {
  kSwarm,
  kUniform,  // every kind of fault in every world, at any time or step of any node
  // Swarm, and the calls of one node are always slower than those of another, with a few points at which the
  // order changes, as PCT orders threads; in two of five, a reply comes late and then nothing any more.
  kPriorities,
  // Swarm, and what is in few of its worlds (`whorl hunt --draws`) is in many.
  kRare,
};
// The share of worlds of the style that have what `percent` of the others have.
constexpr int64_t ShareIn(Style style, int64_t percent) {
  return style == Style::kRare ? std::max<int64_t>(percent, 50) : percent;
}

// The simulated time of most worlds.
inline constexpr Duration kUsualDuration = Seconds(120);

struct WorldOptions {
  Style style = Style::kSwarm;
  std::vector<FaultKind> kinds;  // the kinds of faults that may strike; empty: all
  bool beyond_assumptions = false;
  Duration duration = kUsualDuration;  // with this one, a few worlds are longer
  Duration lease_min;                  // the shortest lease, if the protocol's own minimum is less
  int64_t rate_ppm_max = 0;  // how fast or slow clocks may run; 0: as the protocol assumes
  WHORL_FIELDS(WorldOptions, style, kinds, beyond_assumptions, duration, lease_min, rate_ppm_max);
};

// REQUIRES of both: duration >= 10 s.
Scenario DrawWorld(const WorldOptions& options, const ProtocolInfo& protocol, uint64_t seed);
// Draws a world in which each of the protocols can run, and which has the first of them. Its faults strike at
// a time, or wait for a step that all protocols have. It has rows of earlier processes only if the protocols
// share one table.
Scenario DrawWorld(const WorldOptions& options, const SharedCapabilities& shared, uint64_t seed);

// Draws the faults of a world; only world_generator.cc calls it.

enum class FaultTriggers : uint8_t { kTimesAndSteps, kTimes };

// Adds faults to a world without any. `safety` is the length of the safety phase. REQUIRES:
// everything else in the world has been drawn.
void DrawFaults(const WorldOptions& options, const SharedCapabilities& shared, Duration safety,
                FaultTriggers triggers, Draws& draws, Scenario& world);

}  // namespace whorl::sim
