#include "sim/world/fault_effects.h"

#include "sim/scenario/rules.h"

namespace whorl::sim {

Value KeyOfRow(const Scenario& scenario, const RowOfLock& target) {
  const Rules& rules = RulesOf(scenario.protocol);
  return ParseKey(rules, scenario.locks[target.lock], target.row).value_or(Null{});
}

bool ResourceTakes(bool fenced, const std::optional<uint64_t>& token,
                   std::optional<uint64_t>& greatest) {
  if (!fenced) return true;
  const bool takes = token && (!greatest || *token >= *greatest);
  if (takes) greatest = token;
  return takes;
}

}  // namespace whorl::sim
