// Effects of faults and of writes to the resource, shared by simulated and real runs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/spanner/value.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

// The key of the row that an operator acts on.
Value KeyOfRow(const Scenario& scenario, const RowOfLock& target);

// The two ways between a node and Spanner.
struct Links {
  LinkState to = LinkState::kUp;
  LinkState from = LinkState::kUp;
};
// The links under the active faults. `active` are indexes into Scenario::faults, in the order in
// which the faults began; if two partitions overlap, the later one decides.
Links LinksUnder(const Scenario& scenario, std::span<const uint32_t> active);
// The observations of a change of links: one if both ways change to the same state, otherwise two.
std::vector<LinkChanged> LinkChanges(int16_t node, const Links& before, const Links& after);

// Whether the resource accepts the write. The fencing resource keeps the greatest token that it has
// accepted in `greatest`, and refuses smaller ones.
bool ResourceTakes(bool fenced, const std::optional<uint64_t>& token,
                   std::optional<uint64_t>& greatest);

}  // namespace whorl::sim
