// What of a scenario cannot be made real, said before anything is started.
#pragma once

#include <string>
#include <vector>

#include "live/backend.h"
#include "sim/scenario/scenario.h"

namespace whorl::live {

// A line each, with file and line where there is one, what cannot be made real, and what to do;
// empty when all can.
std::vector<std::string> RefusalsOf(BackendKind kind, const sim::Scenario& scenario);

}  // namespace whorl::live
