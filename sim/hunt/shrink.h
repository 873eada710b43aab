// Makes scenarios smaller, and finds a smallest one that still behaves like the original. Hunts and
// property tests shrink by the same steps.
//
// Invariants:
//   1. Every candidate loads if the scenario that it was made from does.
//   2. Each step makes the scenario smaller in a well-founded order: fewer parts, or as many parts
//      and smaller or simpler numbers. So repeated steps come to an end.
//   3. The candidates and their order depend on the scenario alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/hunt/world_generator.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// Scenarios with fewer parts: without some faults (many at once come first), without entries of the
// schedule, without a node and its faults, without a lock, without rows, with a shorter duration.
std::vector<Scenario> WithoutAPart(const Scenario& scenario);
// Scenarios with a default in place of a drawn value, or with a smaller or rounder number.
std::vector<Scenario> WithPlainerNumbers(const Scenario& scenario);
// Scenarios with fewer parts, then those with simpler numbers.
std::vector<Scenario> SmallerScenarios(const Scenario& scenario);

// Removes the fault and the schedule's entries that refer to it.
void TakeOutFault(Scenario& scenario, size_t gone);

struct Shrunk {
  Scenario scenario;
  int64_t runs = 0;  // how often `keeps` was called
};
// Takes steps that `keeps` accepts until it accepts no candidate of WithoutAPart, and none of
// WithPlainerNumbers or `max_runs` calls have been spent on numbers.
// REQUIRES: `keeps` accepts `scenario` and is a function of its argument. With a schedule, it has to
// refuse a run that could not take it (RunResult::schedule_problem), or entries are left that mean
// nothing.
Shrunk Shrink(Scenario scenario, const std::function<bool(const Scenario&)>& keeps,
              int64_t max_runs);

// Draws worlds around a scenario, for a hunt that starts from one.
//
// Invariants:
//   1. Run 0 is the scenario as it stands, with its seed and its schedule.
//   2. Each other run has another seed, of the schedule a part from its beginning (so that virtual time
//      decides what follows), mostly the faults of the scenario, and up to two that a hunt would draw.
//   3. A variation is a valid scenario: written as text, it loads.

// `options` says which faults may be added. REQUIRES: the scenario came from the loader.
Scenario VariationOf(const Scenario& scenario, const WorldOptions& options, uint64_t run,
                     uint64_t seed);

}  // namespace whorl::sim
