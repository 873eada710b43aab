// one_live_token: at most one process that is not gone takes the token of the lock's newest version
// for its own. Judged when the row's token or a process's own token changes; no other event can add
// a second holder.
#pragma once

#include "sim/judge/checkers/tally.h"

namespace whorl::sim {

struct OneLiveToken {
  static constexpr Invariant kInvariant = Invariant::kOneLiveToken;

  WHORL_NO_FIELDS(OneLiveToken);

  void On(const VersionChanged& x, const Now& now);
  void On(const OwnTokenChanged& x, const Now& now);
};

}  // namespace whorl::sim
