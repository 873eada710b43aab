#include "sim/scenario/goals.h"

#include <algorithm>
#include <array>

namespace whorl::sim {
namespace {

// What follows from the code of a protocol alone.
struct Never {
  std::string_view protocol;
  Sometimes goal = Sometimes::kTakeover;
  std::string_view why;
};
constexpr std::string_view kGivesNothingBack = "it never gives a lock back";
constexpr std::string_view kNotesNoStop = "its processes do not compare their clocks";
constexpr std::array<Never, 6> kNevers = {{
    {"spindle_v2", Sometimes::kRelease, kGivesNothingBack},
    {"semaphore", Sometimes::kRelease, kGivesNothingBack},
    {"spindle_v2", Sometimes::kClockStopNoticed, kNotesNoStop},
    {"spindle_v3", Sometimes::kClockStopNoticed, kNotesNoStop},
    {"semaphore", Sometimes::kClockStopNoticed, kNotesNoStop},
    {"lease_lock", Sometimes::kClockStopNoticed, kNotesNoStop},
}};

}  // namespace

std::string_view WhyNever(const ProtocolInfo& protocol, Sometimes goal) {
  const bool is_refusal =
      goal == Sometimes::kStaleWriteRefused || goal == Sometimes::kLegitimateWriteRefused;
  if (is_refusal && !protocol.has_tokens) return "its writes carry no token to refuse them by";
  const auto found = std::ranges::find_if(kNevers, [&](const Never& never) {
    return never.protocol == protocol.name && never.goal == goal;
  });
  return found == kNevers.end() ? std::string_view() : found->why;
}

}  // namespace whorl::sim
