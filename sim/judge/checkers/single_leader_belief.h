// single_leader_belief: no process begins to believe that it leads while another process believes
// so. How long two processes believed is a metric.
#pragma once

#include "sim/judge/checkers/tally.h"

namespace whorl::sim {

struct SingleLeaderBelief {
  static constexpr Invariant kInvariant = Invariant::kSingleLeaderBelief;

  WHORL_NO_FIELDS(SingleLeaderBelief);

  void On(const BeliefBegan& x, const Now& now);
};

}  // namespace whorl::sim
