// `whorl bench takeover --on`: measures takeovers on real processes and compares them with simulated
// ones.
#pragma once

#include "cli/bench/takeover_options.h"

namespace whorl::cli {

// Returns the exit code. REQUIRES: request.on.
int RunTakeoverOn(TakeoverRequest request);

}  // namespace whorl::cli
