// The moves of a search that a scenario's schedule names, so that a search begins where the schedule ends.
#pragma once

#include <string>
#include <vector>

#include "sim/explore/lock_model.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

struct SchedulePrefix {
  std::vector<Move> moves;
  // Which entry no choice of the search is, and what could happen instead; empty if all of them are.
  std::string problem;
};

// `scenario` has the schedule and the faults that it names; `model` is of SpaceOf(scenario). Time stops
// where a search lets it stop, so a schedule in the search's own times fits: one that `whorl explore --save`
// wrote, or one whose entries have no times but those of the grid.
SchedulePrefix PrefixOf(const LockModel& model, const Scenario& scenario);

}  // namespace whorl::sim
