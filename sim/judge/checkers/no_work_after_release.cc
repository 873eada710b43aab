#include "sim/judge/checkers/no_work_after_release.h"

namespace whorl::sim {
namespace {

// Whether the owner itself gave the lock back: it deleted its row, or marked it as released. An
// operator who does so is not the owner.
bool IsReleasedByItsOwner(const VersionChanged& x) {
  if (x.kind == TokenChange::kReleased) return true;
  const bool released = x.after && x.after->released && !(x.before && x.before->released);
  return released && x.after->owner == x.writer;
}

}  // namespace

void NoWorkAfterRelease::On(const VersionChanged& x, const Now& now) {
  if (!IsReleasedByItsOwner(x) || !now.ledger.IsAtWork(x.writer, x.lock, now.setup)) return;
  now.Violated(kInvariant, x.lock, [&] {
    return now.NameOf(x.writer) + " gave lock " + now.QuotedLock(x.lock) +
           " back while its application was still at work";
  });
}

}  // namespace whorl::sim
