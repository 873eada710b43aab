// `whorl check --stream`: judges what a change stream says.
#pragma once

#include "cli/check/request.h"

namespace whorl::cli {

// Reads and judges it. Returns the exit code. REQUIRES: request.stream.name.
int RunCheckStream(const CheckRequest& request);

}  // namespace whorl::cli
