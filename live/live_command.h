// whorl replay --on: runs scenarios for real, and puts their verdicts beside the simulated ones.
#pragma once

#include "live/live_options.h"

namespace whorl::live {

// Returns the exit code.
int RunLive(const LiveOptions& options);

}  // namespace whorl::live
