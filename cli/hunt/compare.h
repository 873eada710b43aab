// `whorl hunt --compare A B`: the same worlds for two protocols.
#pragma once

#include "cli/hunt/options.h"

namespace whorl::cli {

// Returns the exit code. REQUIRES: the request has two protocols to compare.
int Compare(const HuntRequest& request);

}  // namespace whorl::cli
