#include "sim/world/triggers.h"

#include <algorithm>
#include <variant>

#include "protocol/protocols.h"
#include "sim/world/reached_phase.h"

namespace whorl::sim {
Triggers::Triggers(const Scenario& scenario) : protocol_(FindProtocol(scenario.protocol)) {
  const std::vector<bool> scheduled = FaultsOfSchedule(scenario);
  for (size_t i = 0; i < scenario.faults.size(); ++i) {
    if (!scheduled.empty() && scheduled[i]) continue;
    const auto* when = std::get_if<When>(&scenario.faults[i].trigger);
    if (when != nullptr) armed_.push_back({.fault = static_cast<uint32_t>(i), .when = *when});
  }
  NotePhases();
}

void Triggers::NotePhases() {
  phases_ = 0;
  for (const Armed& armed : armed_) phases_ |= BitOf(armed.when.phase);
}

bool Triggers::WaitsForReply(int16_t node, StepName step) const {
  if ((phases_ & BitOf(Phase::kReplied)) == 0) return false;
  return std::any_of(armed_.begin(), armed_.end(), [node, step](const Armed& armed) {
    return armed.when.node == node && armed.when.phase == Phase::kReplied &&
           armed.when.step == step;
  });
}

void Triggers::Reach(const CallName& call, StepName step, Phase phase, std::vector<Hit>& hits) {
  if ((phases_ & BitOf(phase)) == 0) return;
  bool strikes = false;
  for (Armed& armed : armed_) {
    const When& when = armed.when;
    if (when.node != call.process.node || when.step != step || when.phase != phase) continue;
    if (when.lock && *when.lock != call.lock) continue;
    if (++armed.seen < when.count) continue;
    hits.push_back({.fault = armed.fault, .call = call});
    strikes = true;
  }
  if (!strikes) return;
  std::erase_if(armed_, [](const Armed& armed) { return armed.seen >= armed.when.count; });
  NotePhases();
}

void Triggers::Replied(const CallName& call, StepName step, std::vector<Hit>& hits) {
  Reach(call, step, Phase::kReplied, hits);
}

void Triggers::Observe(const Observation& observation, std::vector<Hit>& hits) {
  const auto reached = PhaseReachedBy(observation.what, *protocol_);
  if (reached) Reach(reached->call, reached->step, reached->phase, hits);
}

}  // namespace whorl::sim
