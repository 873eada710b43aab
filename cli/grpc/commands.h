// Declares the commands of whorl-grpc that are no library of their own.
#pragma once

#include "cli/bench/takeover_options.h"
#include "cli/check/request.h"
#include "cli/replay/options.h"

namespace whorl::cli {

// `whorl check --database .. [--stream NAME]`: judges the records of a change stream, or the versions that the
// lock table's rows had.
// Returns the exit code. REQUIRES: request.database.IsRead().
int RunCheckDatabase(const CheckRequest& request);

// `whorl replay --on`: runs scenarios on real processes and compares their verdicts with simulated
// ones.
// Returns the exit code. REQUIRES: request.on.
int RunReplayOn(const ReplayRequest& request);

// `whorl bench takeover --on`: measures takeovers on real processes and compares them with simulated
// ones.
// Returns the exit code. REQUIRES: request.on.
int RunTakeoverOn(TakeoverRequest request);

// `whorl conform`: tells the author of a program what it lacks to take part in scenarios.
// Runs `whorl conform ...` from main's arguments. REQUIRES: no other thread runs yet. Returns the exit
// code.
int RunConformCommand(int argc, char** argv);

}  // namespace whorl::cli
