// Translates a scenario's schedule into moves, so that a search begins where the schedule ends.
#pragma once

#include <string>
#include <vector>

#include "sim/explore/lock_model.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

struct SchedulePrefix {
  std::vector<Move> moves;
  // The entry that matches no choice of the search, and what could happen instead; empty if all match.
  std::string problem;
};

// `scenario` has the schedule and the faults that it names; `model` is of SpaceOf(scenario). Time stops
// where a search lets it stop, so a schedule in the search's own times fits: one that `whorl explore --save`
// wrote, or one whose entries have no times but those of the grid.
SchedulePrefix PrefixOf(const LockModel& model, const Scenario& scenario);

}  // namespace whorl::sim
