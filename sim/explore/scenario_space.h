// Takes the world of a search from a scenario, with the scenario's faults as a menu.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "sim/explore/bounds.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

struct ScenarioSpace {
  // Without faults, schedule and expectations; calls take no time. A node that only a timed `start`
  // fault started starts at that time.
  Scenario scenario;
  FaultBudget faults;  // as many of each kind as the scenario has
  FaultMenu menu;      // the nodes and rows that these may strike
  Duration longest_pause;
  // A message for each fault that cannot be a choice. If there are any, the other members have no meaning.
  std::vector<std::string> errors;
};
ScenarioSpace SpaceOf(const Scenario& scenario);

}  // namespace whorl::sim
