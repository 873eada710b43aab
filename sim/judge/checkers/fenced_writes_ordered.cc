#include "sim/judge/checkers/fenced_writes_ordered.h"

#include <string>

namespace whorl::sim {

void FencedWritesOrdered::On(const WriteArrived& x, const Now& now) {
  if (!x.fenced || !x.accepted || !x.token) return;
  std::optional<Accepted>& most = greatest[x.lock];
  if (most && *x.token < most->token) {
    now.Violated(kInvariant, x.lock, [&] {
      return "the resource of lock " + now.QuotedLock(x.lock) + " accepted " +
             now.NameOf(x.process) + "'s token " + std::to_string(*x.token) + " after " +
             now.NameOf(most->process) + "'s " + std::to_string(most->token);
    });
  }
  if (!most || *x.token > most->token) most = {.token = *x.token, .process = x.process};
}

}  // namespace whorl::sim
