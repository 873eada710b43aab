// whorl replay --on: scenarios on real processes, by another program, since it links gRPC.
#pragma once

namespace whorl::cli {

bool IsLiveReplay(int argc, char** argv);

// Becomes whorl-live (live/). Returns only when it cannot: the exit code.
// REQUIRES: as HandOver.
int HandOverToLive(char** argv);

}  // namespace whorl::cli
