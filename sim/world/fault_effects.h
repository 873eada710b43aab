// Effects of faults and of writes to the resource, shared by simulated and real runs.
#pragma once

#include <cstdint>
#include <optional>

#include "protocol/spanner/value.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// Of the row that an operator acts on.
Value KeyOfRow(const Scenario& scenario, const RowOfLock& target);

// Whether the resource takes the write. The fencing one keeps the greatest token that it has seen,
// and refuses smaller ones.
bool ResourceTakes(bool fenced, const std::optional<uint64_t>& token,
                   std::optional<uint64_t>& greatest);

}  // namespace whorl::sim
