// Measures one takeover: makes its world and runs it until another process has led.
//
// The world has a leader, followers that start at random instants within one lease (so their ticks
// have random phases), and five leases and a second to become steady. The fault strikes at an
// instant drawn uniformly from the three leases after that, which are a whole number of renewals of
// every protocol that renews at a fixed period. Applications write from their callback, at once.
#pragma once

#include <cstdint>

#include "sim/measure/takeover_case.h"
#include "sim/measure/takeover_observer.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// The seed of a run: a function of the seed of the whole measurement, the case and the run's
// number.
uint64_t SeedOfTakeover(uint64_t bench_seed, const TakeoverCase& takeover_case, uint64_t run);

// The world of one run; Scenario::seed is the run's seed.
// REQUIRES: WhyNot(takeover_case) is empty.
Scenario TakeoverWorld(const TakeoverCase& takeover_case, uint64_t seed);

// Runs the world and measures it. `times` are TimesOf(takeover_case). REQUIRES: as TakeoverWorld.
TakeoverRun MeasureTakeover(const TakeoverCase& takeover_case, MedianTimes times, uint64_t seed);

// C and w of the case.
MedianTimes TimesOf(const TakeoverCase& takeover_case);

}  // namespace whorl::sim
