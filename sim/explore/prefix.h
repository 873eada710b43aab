// Translates a scenario's schedule into moves, so that a search begins where the schedule ends.
#pragma once

#include <string>
#include <vector>

#include "sim/explore/lock_model.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

struct SchedulePrefix {
  std::vector<Move> moves;
  // Names the first entry that matches no choice of the search, and the choices there; empty if all match.
  std::string problem;
};

// `scenario` has the schedule and the faults that it names; `model` is made of SpaceOf(scenario). The entries'
// times have to be times at which a search lets time stop: those that `whorl explore --save` writes are, and
// so are the points of the grid.
SchedulePrefix PrefixOf(const LockModel& model, const Scenario& scenario);

}  // namespace whorl::sim
