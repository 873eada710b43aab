#include "protocol/names.h"

namespace whorl {
namespace {

constexpr std::array<std::string_view, kStepCount> kSteps = {"check",
                                                             "first_insert",
                                                             "reread",
                                                             "takeover_insert",
                                                             "takeover_update",
                                                             "heartbeat_update",
                                                             "heartbeat_delete",
                                                             "has_lock",
                                                             "write",
                                                             "read",
                                                             "take",
                                                             "create",
                                                             "beat",
                                                             "release",
                                                             "look",
                                                             "acquire",
                                                             "heartbeat",
                                                             "update",
                                                             "query",
                                                             "get"};
constexpr std::array<std::string_view, kPhaseCount> kPhases = {"sent", "served", "committed",
                                                               "replied", "ended"};
constexpr std::array<std::string_view, kInvariantCount> kInvariants = {
    "one_live_token",       "token_monotonic", "handed_token_monotonic",
    "has_lock_truthful",    "lease_respected", "fenced_writes_ordered",
    "single_leader_belief", "isolation",       "no_wedge"};

}  // namespace

std::string_view StepText(StepName step) { return kSteps[static_cast<size_t>(step)]; }
std::optional<StepName> ParseStep(std::string_view text) {
  return FindWord<StepName>(kSteps, text);
}
std::string_view PhaseText(Phase phase) { return kPhases[static_cast<size_t>(phase)]; }
std::string_view InvariantText(Invariant invariant) {
  return kInvariants[static_cast<size_t>(invariant)];
}

}  // namespace whorl
