#include "cli/lock/latency_hint.h"

#include <algorithm>

#include "base/text.h"
#include "base/time.h"

namespace whorl::cli {

void LatencyHint::Heard(std::string_view step, Duration took) {
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = quickest_.emplace(step, took);
  if (!is_new) known->second = std::min(known->second, took);
}

void LatencyHint::HeardFirst(Duration took) {
  const std::lock_guard lock(mutex_);
  first_ = took;
}

std::string LatencyHint::OfLease(Duration lease) const {
  const std::lock_guard lock(mutex_);
  const auto say = [lease](std::string_view what, Duration took) {
    return Cat("; the lease of ", FormatDuration(lease), " is too short for this latency: ", what,
               " took ", FormatSeconds(took, 3), " s");
  };
  const auto slowest =
      std::ranges::max_element(quickest_, {}, [](const auto& step) { return step.second; });
  if (slowest == quickest_.end()) return first_ < lease ? "" : say("a read", first_);
  return slowest->second < lease / 4 ? "" : say(slowest->first, slowest->second);
}

}  // namespace whorl::cli
