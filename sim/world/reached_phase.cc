#include "sim/world/reached_phase.h"

#include <algorithm>
#include <variant>

namespace whorl::sim {
namespace {

constexpr uint8_t kExecuteSql = 0;  // Request::index()
constexpr int kCodeBits = 5;

CallName NameOf(ProcessId process, uint16_t lock) {
  CallName name;
  name.process = process;
  name.lock = lock;
  return name;
}

constexpr uint8_t Told(Outcome outcome, Code code) {
  return static_cast<uint8_t>(static_cast<unsigned>(outcome) << kCodeBits |
                              static_cast<unsigned>(code));
}

// What each kind of observation shows; most show nothing.
struct Phases {
  const ProtocolInfo& protocol;

  template <typename Observed>
  std::optional<ReachedPhase> operator()(const Observed& /*x*/) const {
    return std::nullopt;
  }
  std::optional<ReachedPhase> operator()(const CallSent& x) const {
    // Only the first call of a step counts; a retry of the transaction does not.
    if (x.request != kExecuteSql || x.call.attempt > 1) return std::nullopt;
    return ReachedPhase{x.call, x.step, Phase::kSent, 0};
  }
  std::optional<ReachedPhase> operator()(const CallServed& x) const {
    if (x.request != kExecuteSql) return std::nullopt;
    return ReachedPhase{x.call, x.step, Phase::kServed, static_cast<uint8_t>(x.code)};
  }
  std::optional<ReachedPhase> operator()(const TransactionCommitted& x) const {
    return ReachedPhase{x.call, x.step, Phase::kCommitted, 0};
  }
  std::optional<ReachedPhase> operator()(const CallEnded& x) const {
    // A statement with a step of its own. All other steps end with their transaction.
    const auto& within = protocol.steps_within_others;
    if (std::ranges::find(within, x.step) == within.end()) return std::nullopt;
    return ReachedPhase{x.call, x.step, Phase::kEnded, static_cast<uint8_t>(x.code)};
  }
  std::optional<ReachedPhase> operator()(const TransactionFinished& x) const {
    return ReachedPhase{NameOf(x.process, x.lock), x.step, Phase::kEnded, Told(x.outcome, x.code)};
  }
  std::optional<ReachedPhase> operator()(const QuestionAnswered& x) const {
    if (!protocol.answers_locally || x.answer.question != Question::kHasLock) return std::nullopt;
    return ReachedPhase{NameOf(x.process, x.lock), steps::kHasLock, Phase::kEnded,
                        static_cast<uint8_t>(x.answer.yes ? 1 : 0)};
  }
  std::optional<ReachedPhase> operator()(const WriteSent& x) const {
    return ReachedPhase{NameOf(x.process, x.lock), steps::kWrite, Phase::kSent, 0};
  }
  std::optional<ReachedPhase> operator()(const WriteArrived& x) const {
    return ReachedPhase{NameOf(x.process, x.lock), steps::kWrite, Phase::kServed,
                        static_cast<uint8_t>(x.accepted ? 1 : 0)};
  }
};

}  // namespace

std::optional<ReachedPhase> PhaseReachedBy(const ObservedEvent& what,
                                           const ProtocolInfo& protocol) {
  return std::visit(Phases{protocol}, what);
}

}  // namespace whorl::sim
