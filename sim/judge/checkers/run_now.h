// Holds what a judge of runs can read beside what every checker can: what disturbs the run.
#pragma once

#include "protocol/spanner/rpc.h"
#include "sim/judge/checkers/tally.h"
#include "sim/judge/disturbances.h"

namespace whorl::sim {

struct RunNow : Now {
  const Disturbances& disturbances;

  bool IsAwaited(const CallName& call) const { return disturbances.IsAwaited(call, ledger); }
};

}  // namespace whorl::sim
