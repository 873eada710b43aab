// fenced_writes_ordered: the resource that fences accepts no token below one that it has accepted
// for the lock. This checks the resource rather than the protocol.
// Deliberately left out: writes without a token, about which the definition says nothing.
#pragma once

#include <vector>

#include "sim/judge/checkers/tally.h"

namespace whorl::sim {

struct FencedWritesOrdered {
  static constexpr Invariant kInvariant = Invariant::kFencedWritesOrdered;

  struct Accepted {
    TokenNumber token;
    ProcessId process;
    WHORL_FIELDS(Accepted, token, process);
  };

  std::vector<std::optional<Accepted>> greatest;  // by lock
  WHORL_FIELDS(FencedWritesOrdered, greatest);

  static FencedWritesOrdered For(const CheckerSetup& setup) {
    return {.greatest = std::vector<std::optional<Accepted>>(setup.locks.size())};
  }
  void On(const WriteArrived& x, const Now& now);
};

}  // namespace whorl::sim
