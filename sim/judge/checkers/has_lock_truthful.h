// has_lock_truthful: a process that asked at a and was answered at b that it has the lock owned the
// lock's newest version at some instant in [a, b]. Both ends are included: an owner that is
// replaced at the very instant of asking was still the owner at that instant. The same is true of a Lock() that
// returned without an error.
#pragma once

#include <vector>

#include "sim/judge/checkers/tally.h"

namespace whorl::sim {

struct HasLockTruthful {
  static constexpr Invariant kInvariant = Invariant::kHasLockTruthful;

  // When the newest of a node's processes that have owned the lock last stopped owning it;
  // incarnation 0 if none has. Older processes are gone and get no answers.
  struct Ceased {
    uint32_t incarnation = 0;
    Instant at;
    WHORL_FIELDS(Ceased, incarnation, at);
  };

  std::vector<Ceased> ceased;  // by CheckerSetup::ParticipationIndex
  WHORL_FIELDS(HasLockTruthful, ceased);

  static HasLockTruthful For(const CheckerSetup& setup) {
    return {.ceased = std::vector<Ceased>(setup.ParticipationCount())};
  }
  void On(const VersionChanged& x, const Now& now);
  void On(const QuestionAnswered& x, const Now& now);
  // The process was told at this moment that it has the lock. Only Now::Violated changes anything.
  void JudgeYes(ProcessId process, uint16_t lock, Instant asked_at, const Now& now) const;
};

// The same of a Lock() that returned without an error, which only runs show: when it was asked is in no state.
struct LockTruthful {
  static constexpr Invariant kInvariant = Invariant::kHasLockTruthful;

  HasLockTruthful past;
  std::vector<Instant> asked;  // by CheckerSetup::ParticipationIndex: the last Lock()
  WHORL_FIELDS(LockTruthful, past, asked);

  static LockTruthful For(const CheckerSetup& setup) {
    return {.past = HasLockTruthful::For(setup),
            .asked = std::vector<Instant>(setup.ParticipationCount())};
  }
  void On(const VersionChanged& x, const Now& now) { past.On(x, now); }
  void On(const QuestionAsked& x, const Now& now) {
    if (x.question != Question::kLock) return;
    asked[now.setup.ParticipationIndex(x.process.node, x.lock)] = now.at;
  }
  void On(const QuestionAnswered& x, const Now& now) {
    if (x.answer.question != Question::kLock || !x.answer.yes) return;
    past.JudgeYes(x.process, x.lock, asked[now.setup.ParticipationIndex(x.process.node, x.lock)],
                  now);
  }
};

}  // namespace whorl::sim
