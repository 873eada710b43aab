// Names the budget of faults that several tests of explored spaces give.
#pragma once

#include "sim/explore/bounds.h"

namespace whorl::sim {

inline constexpr FaultBudget kOneOfEachFault = {.crashes = 1,
                                                .stops = 1,
                                                .pauses = 1,
                                                .losses = 1,
                                                .aborts = 1,
                                                .deletes = 1,
                                                .announcements = 1,
                                                .standing_clocks = 1};

}  // namespace whorl::sim
