// whorl bench takeover --on: takeovers on real processes, beside simulated ones.
#pragma once

#include "cli/bench/takeover_options.h"

namespace whorl::cli {

// Returns the exit code. REQUIRES: request.on.
int RunTakeoverOn(TakeoverRequest request);

}  // namespace whorl::cli
