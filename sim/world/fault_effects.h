// Effects of faults and of writes to the resource, shared by simulated and real runs.
#pragma once

#include <cstdint>
#include <optional>

#include "protocol/spanner/value.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// The key of the row that an operator acts on.
Value KeyOfRow(const Scenario& scenario, const RowOfLock& target);

// Whether the resource accepts the write. The fencing resource keeps the greatest token that it has
// accepted in `greatest`, and refuses smaller ones.
bool ResourceTakes(bool fenced, const std::optional<uint64_t>& token,
                   std::optional<uint64_t>& greatest);

}  // namespace whorl::sim
