#include "sim/world/fault_effects.h"

#include "sim/scenario/direction.h"
#include "sim/scenario/rules.h"

namespace whorl::sim {

Value KeyOfRow(const Scenario& scenario, const RowOfLock& target) {
  const Rules& rules = RulesOf(scenario.protocol);
  return ParseKey(rules, scenario.locks[target.lock], target.row).value_or(Null{});
}

Links LinksUnder(const Scenario& scenario, std::span<const uint32_t> active) {
  Links links;
  for (const uint32_t index : active) {
    const auto* fault = scenario.faults[index].As<PartitionFault>();
    if (fault == nullptr) continue;
    const LinkState link =
        fault->mode == PartitionMode::kRefuse ? LinkState::kRefused : LinkState::kBlackHoled;
    if (Covers(fault->direction, Direction::kTo)) links.to = link;
    if (Covers(fault->direction, Direction::kFrom)) links.from = link;
  }
  return links;
}

std::vector<LinkChanged> LinkChanges(int16_t node, const Links& before, const Links& after) {
  const bool to = before.to != after.to;
  const bool from = before.from != after.from;
  if (to && from && after.to == after.from) return {{.node = node, .link = after.to}};
  std::vector<LinkChanged> changes;
  if (to) changes.push_back({.node = node, .link = after.to, .direction = Direction::kTo});
  if (from) changes.push_back({.node = node, .link = after.from, .direction = Direction::kFrom});
  return changes;
}

bool ResourceTakes(bool fenced, const std::optional<uint64_t>& token,
                   std::optional<uint64_t>& greatest) {
  if (!fenced) return true;
  const bool takes = token && (!greatest || *token >= *greatest);
  if (takes) greatest = token;
  return takes;
}

}  // namespace whorl::sim
