#include "sim/judge/checkers/single_worker.h"

#include <string>

namespace whorl::sim {

void SingleWorker::On(const WorkBegan& x, const Now& now) {
  if (now.ledger.WorkerCount(x.lock) <= 1) return;
  now.Violated(kInvariant, x.lock, [&] {
    std::string others;
    for (const ProcessId process : now.ledger.Workers(x.lock, now.setup)) {
      if (process == x.process) continue;
      if (!others.empty()) others += ", ";
      others += now.NameOf(process);
    }
    return now.NameOf(x.process) + " began work under lock " + now.QuotedLock(x.lock) + " while " +
           others + (now.ledger.WorkerCount(x.lock) > 2 ? " were" : " was") + " still at work";
  });
}

}  // namespace whorl::sim
