// `whorl replay --on`: runs scenarios on real processes and compares their verdicts with simulated
// ones.
#pragma once

#include "cli/replay/options.h"

namespace whorl::cli {

// Returns the exit code. REQUIRES: request.on.
int RunReplayOn(const ReplayRequest& request);

}  // namespace whorl::cli
