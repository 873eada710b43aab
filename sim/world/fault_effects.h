// What faults and the resource come to, whether the world they are in is simulated or real.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/spanner/value.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

// Of the row that an operator acts on.
Value KeyOfRow(const Scenario& scenario, const RowOfLock& target);

// Between a node and Spanner.
struct Links {
  LinkState to = LinkState::kUp;
  LinkState from = LinkState::kUp;
};
// Under these faults, indexes into Scenario::faults in the order in which they began: the later of
// two partitions decides.
Links LinksUnder(const Scenario& scenario, std::span<const uint32_t> active);
// As they are told: once, where both ways become the same.
std::vector<LinkChanged> LinkChanges(int16_t node, const Links& before, const Links& after);

// Whether the resource takes the write. The fencing one keeps the greatest token that it has seen,
// and refuses smaller ones.
bool ResourceTakes(bool fenced, const std::optional<uint64_t>& token,
                   std::optional<uint64_t>& greatest);

}  // namespace whorl::sim
