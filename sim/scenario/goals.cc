#include "sim/scenario/goals.h"

#include <algorithm>

namespace whorl::sim {

std::string_view WhyNever(const ProtocolInfo& protocol, Sometimes goal) {
  const bool is_refusal =
      goal == Sometimes::kStaleWriteRefused || goal == Sometimes::kLegitimateWriteRefused;
  if (is_refusal && !protocol.has_tokens) return "its writes carry no token to refuse them by";
  const auto found =
      std::ranges::find(protocol.impossible_goals, WordOf(goal), &ImpossibleGoal::goal);
  return found == protocol.impossible_goals.end() ? std::string_view() : found->why;
}

}  // namespace whorl::sim
