// What a scenario says that has no effect, or hardly any, as far as the text shows. Such a scenario runs; a
// reader who relies on what it says is told.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace whorl::sim {

// Each in one line. Empty if there are none.
std::vector<std::string> WarningsOf(const Scenario& scenario);

}  // namespace whorl::sim
