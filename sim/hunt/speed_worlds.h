// The worlds whose speed is measured, for `whorl bench sim` and for bench/.
#pragma once

#include <cstdint>

#include "sim/scenario/scenario.h"

namespace whorl::sim {

// A quiet time of spindle_v2, lease 10 s: the leader asks HasLock and writes once a second, and the
// others follow by callback. REQUIRES: nodes >= 1.
Scenario QuietWorld(int64_t nodes, Duration duration);

// So many simulated seconds of QuietWorld that a run takes a fraction of a second, and enough of it
// is steady state.
Duration QuietDuration(int64_t nodes);

// World number `run` of a hunt of fenced_lease, of 120 simulated seconds, as `whorl hunt` draws it.
Scenario HuntedWorld(uint64_t run);

}  // namespace whorl::sim
