// has_lock_truthful: a process that asked at a and was answered at b that it has the lock owned the
// lock's newest version at some instant in [a, b]. Both ends are included: an owner that is
// replaced at the very instant of asking was still the owner at that instant.
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
};

}  // namespace whorl::sim
