// A run that is stopped before its end: at some time, to look at it, or once enough was seen.
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

// Hears a run until it has heard enough.
class EndingSink : public ObservationSink {
 public:
  // Whether the run may end. Asked after every event.
  virtual bool HasEnough() const = 0;
};
// The run up to the event after which `sink` has enough, or to its end.
// REQUIRES: as RunScenario.
void RunWhileHeard(const Scenario& scenario, uint64_t seed, EndingSink& sink);

}  // namespace whorl::sim
