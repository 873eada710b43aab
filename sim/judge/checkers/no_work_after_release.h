// no_work_after_release: a process gives a lock back only when its application is not at work under
// the lock, the time that it needs to stop included. Judged when the commit by which the owner
// releases the row becomes visible, even if the process has not heard of it yet.
//
// Deliberately left out: a lease that runs out while the application is at work. Others take the
// lock then by right; single_worker shows what comes of it.
#pragma once

#include "sim/judge/checkers/tally.h"

namespace whorl::sim {

struct NoWorkAfterRelease {
  static constexpr Invariant kInvariant = Invariant::kNoWorkAfterRelease;

  WHORL_NO_FIELDS(NoWorkAfterRelease);

  void On(const VersionChanged& x, const Now& now);
};

}  // namespace whorl::sim
