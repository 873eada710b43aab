// token_monotonic: a committed token is not below any token ever stored under the row's name,
// including in rows deleted since, and above all of them if the owner changes. A commit that leaves
// the token unchanged commits no token; a heartbeat that replaces it commits one. Initial rows
// count as stored.
#pragma once

#include <vector>

#include "sim/judge/checkers/tally.h"

namespace whorl::sim {

struct TokenMonotonic {
  static constexpr Invariant kInvariant = Invariant::kTokenMonotonic;

  std::vector<std::optional<Token>> greatest;  // by lock
  WHORL_FIELDS(TokenMonotonic, greatest);

  static TokenMonotonic For(const CheckerSetup& setup) {
    return {.greatest = std::vector<std::optional<Token>>(setup.locks.size())};
  }
  void On(const VersionChanged& x, const Now& now);
};

}  // namespace whorl::sim
