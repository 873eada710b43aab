// handed_token_monotonic: a token handed to a user (HasLock answered yes) is greater than all
// tokens handed out before in other terms of the lock. A term is a process and the token that it
// took for its own when it answered; within a term the same token may be handed out repeatedly.
//
// Two maxima suffice: the greatest token, with its term, and the greatest token of all other terms.
#pragma once

#include <vector>

#include "sim/judge/checkers/tally.h"

namespace whorl::sim {

struct HandedTokenMonotonic {
  static constexpr Invariant kInvariant = Invariant::kHandedTokenMonotonic;

  struct Term {
    ProcessId process;
    std::optional<Token> own_token;
    WHORL_FIELDS(Term, process, own_token);
  };
  struct Handed {
    TokenNumber token;
    Term term;
    WHORL_FIELDS(Handed, token, term);
  };
  struct OfLock {
    std::optional<Handed> greatest;
    std::optional<Handed> of_others;  // the greatest of all terms except greatest->term
    WHORL_FIELDS(OfLock, greatest, of_others);
  };

  std::vector<OfLock> locks;
  WHORL_FIELDS(HandedTokenMonotonic, locks);

  static HandedTokenMonotonic For(const CheckerSetup& setup) {
    return {.locks = std::vector<OfLock>(setup.locks.size())};
  }
  void On(const QuestionAnswered& x, const Now& now);
};

}  // namespace whorl::sim
