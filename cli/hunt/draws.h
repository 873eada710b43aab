// Prints what the runs of a hunt contain: `whorl hunt --draws`.
#pragma once

#include "cli/hunt/options.h"

namespace whorl::cli {

int PrintDraws(const HuntRequest& request);

}  // namespace whorl::cli
