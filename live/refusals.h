// Finds what a real run cannot do, before anything is started.
#pragma once

#include <string>
#include <vector>

#include "live/backend.h"
#include "sim/scenario/scenario.h"

namespace whorl::live {

// One line for each part of the scenario that cannot be made real: file and line (if it has one), the
// reason, and a remedy. Empty if the scenario can run. `program`, if not empty, takes part in the lock
// for each node.
std::vector<std::string> RefusalsOf(BackendKind kind, const sim::Scenario& scenario,
                                    const std::string& program = {});

}  // namespace whorl::live
