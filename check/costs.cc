#include "check/costs.h"

namespace whorl::check {

std::optional<TakeoverCost> Costs::Taken(const std::string& lock, const std::string& owner,
                                         const std::string& last_owner) {
  const auto found = locks_.extract(lock);
  if (found.empty() || owner.empty()) return std::nullopt;
  const OfLock& calls = found.mapped();
  const auto of_owner = calls.find(owner);
  if (of_owner == calls.end() || of_owner->second.cost().commits == 0) return std::nullopt;
  TakeoverCost cost;
  for (const auto& [process, of_process] : calls) {
    if (process == last_owner) continue;
    cost.calls += of_process.cost().calls;
    cost.commits += of_process.cost().commits;
    cost.aborted += of_process.cost().aborted;
  }
  return cost;
}

}  // namespace whorl::check
