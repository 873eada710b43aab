// isolation: a process that acts for lock X writes X's row, or a side row of X (spindle v2's
// `X_<decimal>`) that is no lock's row, and nothing else.
//
// Since `<decimal>` has digits only, a key names at most one lock as a side row: what stands
// before its last underscore. So a side row of X is no takeover row of another lock, and only
// the names of locks need asking.
#pragma once

#include "sim/judge/checkers/tally.h"

namespace whorl::sim {

struct Isolation {
  static constexpr Invariant kInvariant = Invariant::kIsolation;

  Tally tally;
  WHORL_FIELDS(Isolation, tally);

  void On(const RowCommitted& x, const Now& now);
};

}  // namespace whorl::sim
