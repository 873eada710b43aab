#include "sim/world/fault_effects.h"

#include "sim/scenario/direction.h"
#include "sim/scenario/rules.h"

namespace whorl::sim {

bool StrikesOneCall(const FaultSpec& fault) {
  return fault.kind == FaultKind::kDropRequest || fault.kind == FaultKind::kDropReply ||
         (fault.kind == FaultKind::kAbort && !fault.lasts);
}

Value KeyOfDeleted(const Scenario& scenario, const FaultSpec& fault) {
  const Rules& rules = RulesOf(scenario.protocol);
  return ParseKey(rules, scenario.locks[fault.lock], fault.row).value_or(Null{});
}

Links LinksUnder(const Scenario& scenario, std::span<const uint32_t> active) {
  Links links;
  for (const uint32_t index : active) {
    const FaultSpec& fault = scenario.faults[index];
    if (fault.kind != FaultKind::kPartition) continue;
    const LinkState link =
        fault.mode == PartitionMode::kRefuse ? LinkState::kRefused : LinkState::kBlackHoled;
    if (Covers(fault.direction, Direction::kTo)) links.to = link;
    if (Covers(fault.direction, Direction::kFrom)) links.from = link;
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
