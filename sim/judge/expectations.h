// Judges a run against what its scenario expects.
//
// Invariants:
//   1. If there is no failure, every invariant of `holds` holds, every one of `violates` is
//      violated, no other is violated, every `sometimes` was met, every metric is within its
//      bounds, every waypoint of `reach` was passed in order, every declared fault struck, and each
//      entry of the schedule happened.
//   2. Unknown is never success: an expectation about a verdict that is unknown or n/a has failed.
// Deliberately left out: seeds other than the file's own. They report counts and are not judged.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/judge/run.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

enum class Expected : uint8_t { kHolds, kViolated, kNothing };
// What `expect` says about the invariant.
Expected ExpectedOf(const Scenario& scenario, Invariant invariant);

// The expectations that failed, each as a sentence without its full stop; empty if none failed.
// REQUIRES: `result` is the result of `scenario` with the scenario's own seed.
std::vector<std::string> FailuresOf(const Scenario& scenario, const RunResult& result);

// "the fault at x.json:12 (pause of b)".
std::string FaultText(const Scenario& scenario, uint32_t fault);

// The earliest violation that the scenario does not expect, or if there is none, the earliest one;
// null if nothing was violated.
const InvariantResult* FirstViolation(const Scenario& scenario, const RunResult& result);

}  // namespace whorl::sim
