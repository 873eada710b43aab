// lease_respected: a commit by another node that takes the lock from its owner, or removes its
// row, has a commit timestamp at or after the end of the owner's lease, unless the owner released
// it. Another incarnation of the owner's node is the same node; nobody (an operator) is no node;
// rows of the start have no owner whose lease could be judged.
#pragma once

#include "sim/judge/checkers/tally.h"

namespace whorl::sim {

struct LeaseRespected {
  static constexpr Invariant kInvariant = Invariant::kLeaseRespected;

  Tally tally;
  WHORL_FIELDS(LeaseRespected, tally);

  void On(const VersionChanged& x, const Now& now);
};

}  // namespace whorl::sim
