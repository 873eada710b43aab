// `whorl check --database .. [--stream NAME]`: judges what a change stream says, or the versions that the
// lock table's rows had.
#pragma once

#include "cli/check/request.h"

namespace whorl::cli {

// Returns the exit code. REQUIRES: request.database.IsRead().
int RunCheckDatabase(const CheckRequest& request);

}  // namespace whorl::cli
