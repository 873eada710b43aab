// Makes a scenario of a violation that a search found: its faults as they struck, and its choices as the schedule.
// The scenario's run, in exact time, confirms the violation or not.
#pragma once

#include <string>

#include "protocol/names.h"
#include "sim/explore/engine/result.h"
#include "sim/explore/lock_model.h"
#include "sim/judge/run.h"
#include "sim/scenario/scenario.h"
#include "sim/world/driver.h"

namespace whorl::sim {

struct Counterexample {
  Scenario scenario;  // expects what its run violates
  RunResult run;
  bool is_confirmed = false;  // each choice could be made, and the invariant was violated
  std::string where;          // if it is: the step or event that showed it (ViolationKind)
};

// The run ends at the first point of the grid after its last choice. Only a wedge needs some more leases, until
// it can be judged.
Counterexample CounterexampleOf(const LockModel& model, const explore::Violation<Move>& violation);

// Whether `less` violates the same invariant as `more`, with a subset of the faults of `more`.
bool NeedsLess(const Counterexample& less, const Counterexample& more);

// Runs the counterexample once more, and tells `sink` what is observed.
void RunAgain(const LockModel& model, const Counterexample& found, ObservationSink& sink);

// The kinds of the faults, in the order in which they struck: "crash_and_pause"; "no_fault".
std::string FaultWords(const Scenario& scenario);

}  // namespace whorl::sim
