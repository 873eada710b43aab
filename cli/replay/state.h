// `whorl replay --at`: prints the state of one run at one time.
#pragma once

#include "cli/replay/options.h"
#include "sim/scenario/scenario.h"

namespace whorl::cli {

// Prints it, and returns the exit code. REQUIRES: request.at is a time of the scenario.
int ShowState(const ReplayRequest& request, const sim::Scenario& scenario);

}  // namespace whorl::cli
