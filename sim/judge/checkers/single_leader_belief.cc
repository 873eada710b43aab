#include "sim/judge/checkers/single_leader_belief.h"

#include <string>

namespace whorl::sim {

void SingleLeaderBelief::On(const BeliefBegan& x, const Now& now) {
  if (now.ledger.BelieverCount(x.lock) <= 1) return;
  now.Violated(kInvariant, x.lock, [&] {
    std::string others;
    for (const ProcessId process : now.ledger.Believers(x.lock, now.setup)) {
      if (process == x.process) continue;
      if (!others.empty()) others += ", ";
      others += now.NameOf(process);
    }
    return now.NameOf(x.process) + " began to believe that it leads lock " +
           now.QuotedLock(x.lock) + " while " + others + " believed so";
  });
}

}  // namespace whorl::sim
