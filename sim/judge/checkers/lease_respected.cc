#include "sim/judge/checkers/lease_respected.h"

#include <string>

namespace whorl::sim {

void LeaseRespected::On(const VersionChanged& x, const Now& now) {
  if (x.kind == TokenChange::kKept || !x.before || x.before->released) return;
  const ProcessId owner = x.before->owner;
  const bool by_another_node =
      owner != ProcessId{} && x.writer != ProcessId{} && x.writer.node != owner.node;
  const std::optional<Timestamp> until = x.before->lease_until;
  if (!by_another_node || !until || x.commit >= *until) return;
  now.Violated({.invariant = kInvariant, .lock = x.lock, .at = now.at, .by = *until - x.commit},
               [&] {
                 const bool removed = x.kind == TokenChange::kRemoved;
                 return now.NameOf(x.writer) + (removed ? " removed" : " took") + " lock " +
                        now.QuotedLock(x.lock) + (removed ? ", held by " : " from ") +
                        now.NameOf(owner) + ", with commit timestamp " + FormatRfc3339(x.commit) +
                        ", " + FormatDuration(*until - x.commit) + " before the lease's end at " +
                        FormatRfc3339(*until);
               });
}

}  // namespace whorl::sim
