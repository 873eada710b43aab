// lease_respected: a commit by another node that takes the lock from its owner, or removes its row,
// has a commit timestamp at or after the end of the owner's lease, unless the owner released the
// lock. Another incarnation of the owner's node counts as the same node; nobody (an operator) is
// not a node; initial rows have no owner, so there is no lease to respect.
#pragma once

#include "sim/judge/checkers/tally.h"

namespace whorl::sim {

struct LeaseRespected {
  static constexpr Invariant kInvariant = Invariant::kLeaseRespected;

  WHORL_NO_FIELDS(LeaseRespected);

  void On(const VersionChanged& x, const Now& now);
};

}  // namespace whorl::sim
