// isolation: a process that acts for lock X writes only X's row, or a side row of X (spindle v2's
// `X_<decimal>`) that is not the row of a lock.
//
// Since `<decimal>` has digits only, a key is a side row of at most one lock, whose name is before
// the last underscore. So a side row of X is not a takeover row of another lock, and it is enough
// to compare it with the locks' rows.
#pragma once

#include "sim/judge/checkers/tally.h"

namespace whorl::sim {

struct Isolation {
  static constexpr Invariant kInvariant = Invariant::kIsolation;

  WHORL_NO_FIELDS(Isolation);

  void On(const RowCommitted& x, const Now& now);
};

}  // namespace whorl::sim
