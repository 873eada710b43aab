// whorl replay --on, whorl bench takeover --on: on real processes, by another program, since that
// links gRPC.
#pragma once

namespace whorl::cli {

bool IsLiveCommand(int argc, char** argv);

// Becomes whorl-live (live/). Returns only when it cannot: the exit code.
// REQUIRES: as HandOver.
int HandOverToLive(char** argv);

}  // namespace whorl::cli
