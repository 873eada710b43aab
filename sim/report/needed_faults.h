// Finds the faults that made a violation possible: those without which the same run, with the same seed, does not
// come to it.
//
// Each entry of `faults` is left out by itself, and the run is made again. An entry that several nodes share is left
// out as one.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/names.h"
#include "sim/judge/run.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// One line for people; empty if that cannot be asked: of a run that follows a schedule, which names its faults, or
// that would take more than `events` events in all.
// REQUIRES: `result` is the result of RunScenario for `scenario`, and `invariant` was violated in it.
std::string NeededFaultsText(const Scenario& scenario, const RunResult& result, Invariant invariant,
                             uint64_t events = 10'000'000);

}  // namespace whorl::sim
