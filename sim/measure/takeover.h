// One measured run: the world of a takeover, run until somebody else has led.
//
// The world: a leader, followers that start at drawn instants within one lease (so that their ticks
// have any phase), five leases and a second until all is steady, and the fault at an instant drawn
// uniformly from the three leases after that, which is a whole number of renewals of every protocol
// that renews at a fixed period. Applications write from their callback, at once.
#pragma once

#include <cstdint>

#include "sim/measure/takeover_case.h"
#include "sim/measure/takeover_observer.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// What seed every run of the bench has: a function of the bench's seed, the case and the number.
uint64_t SeedOfTakeover(uint64_t bench_seed, const TakeoverCase& takeover_case, uint64_t run);

// The world of one run; Scenario::seed is that of the run.
// REQUIRES: WhyNot(takeover_case) is empty.
Scenario TakeoverWorld(const TakeoverCase& takeover_case, uint64_t seed);

// REQUIRES: as TakeoverWorld. `times` are those of the case's preset (TimesOf).
TakeoverRun MeasureTakeover(const TakeoverCase& takeover_case, MedianTimes times, uint64_t seed);

// C and w of the case.
MedianTimes TimesOf(const TakeoverCase& takeover_case);

}  // namespace whorl::sim
