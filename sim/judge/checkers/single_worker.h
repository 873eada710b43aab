// single_worker: no application begins work under a lock while the application of another process is
// at work under it, the time that it needs to stop included. How long two were at work is a metric.
// No protocol can promise it without a resource that fences: a paused process does not know that
// its lease is over.
#pragma once

#include "sim/judge/checkers/tally.h"

namespace whorl::sim {

struct SingleWorker {
  static constexpr Invariant kInvariant = Invariant::kSingleWorker;

  WHORL_NO_FIELDS(SingleWorker);

  void On(const WorkBegan& x, const Now& now);
};

}  // namespace whorl::sim
