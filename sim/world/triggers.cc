#include "sim/world/triggers.h"

#include <algorithm>
#include <variant>

#include "protocol/protocols.h"

namespace whorl::sim {
namespace {

constexpr uint8_t kExecuteSql = 0;  // Request::index()

CallName NameOf(ProcessId process, uint16_t lock) {
  CallName name;
  name.process = process;
  name.lock = lock;
  return name;
}

}  // namespace

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

std::optional<Triggers::Reached> Triggers::ReachedBy(const ObservedEvent& what,
                                                     const ProtocolInfo& protocol) {
  if (const auto* sent = std::get_if<CallSent>(&what)) {
    // Only the first call of a step counts; a retry of the transaction does not.
    if (sent->request == kExecuteSql && sent->call.attempt <= 1) {
      return Reached{sent->call, sent->step, Phase::kSent};
    }
  } else if (const auto* served = std::get_if<CallServed>(&what)) {
    if (served->request == kExecuteSql) {
      return Reached{served->call, served->step, Phase::kServed};
    }
  } else if (const auto* committed = std::get_if<TransactionCommitted>(&what)) {
    return Reached{committed->call, committed->step, Phase::kCommitted};
  } else if (const auto* ended = std::get_if<CallEnded>(&what)) {
    // A statement with a step of its own. All other steps end with their transaction.
    const auto& within = protocol.steps_within_others;
    if (std::ranges::find(within, ended->step) != within.end()) {
      return Reached{ended->call, ended->step, Phase::kEnded};
    }
  } else if (const auto* finished = std::get_if<TransactionFinished>(&what)) {
    return Reached{NameOf(finished->process, finished->lock), finished->step, Phase::kEnded};
  } else if (const auto* answered = std::get_if<QuestionAnswered>(&what)) {
    if (protocol.answers_locally && answered->answer.question == Question::kHasLock) {
      return Reached{NameOf(answered->process, answered->lock), steps::kHasLock, Phase::kEnded};
    }
  } else if (const auto* write = std::get_if<WriteSent>(&what)) {
    return Reached{NameOf(write->process, write->lock), steps::kWrite, Phase::kSent};
  } else if (const auto* arrived = std::get_if<WriteArrived>(&what)) {
    return Reached{NameOf(arrived->process, arrived->lock), steps::kWrite, Phase::kServed};
  }
  return std::nullopt;
}

void Triggers::Observe(const Observation& observation, std::vector<Hit>& hits) {
  const auto reached = ReachedBy(observation.what, *protocol_);
  if (reached) Reach(reached->call, reached->step, reached->phase, hits);
}

}  // namespace whorl::sim
