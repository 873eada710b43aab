// token_monotonic: a token that is committed is not below any token ever stored under the row's
// name, in rows deleted since too, and above all of them when the owner changes. A commit that
// leaves the token as it was commits none, a heartbeat that replaces it commits one. Rows of the
// start count as stored.
#pragma once

#include <vector>

#include "sim/judge/checkers/tally.h"

namespace whorl::sim {

struct TokenMonotonic {
  static constexpr Invariant kInvariant = Invariant::kTokenMonotonic;

  Tally tally;
  std::vector<std::optional<Timestamp>> greatest;  // by lock
  WHORL_FIELDS(TokenMonotonic, tally, greatest);

  static TokenMonotonic For(const CheckerSetup& setup) {
    return {.tally = {}, .greatest = std::vector<std::optional<Timestamp>>(setup.locks.size())};
  }
  void On(const VersionChanged& x, const Now& now);
};

}  // namespace whorl::sim
