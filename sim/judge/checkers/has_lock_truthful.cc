#include "sim/judge/checkers/has_lock_truthful.h"

#include <string>

namespace whorl::sim {
namespace {

bool SaysHasLock(const Answer& answer) {
  return answer.yes &&
         (answer.question == Question::kHasLock || answer.question == Question::kHasLock2);
}

std::string SinceStart(Instant at) { return FormatDuration(Duration{at.ns}); }

}  // namespace

void HasLockTruthful::On(const VersionChanged& x, const Now& now) {
  if (!x.before || x.before->owner == ProcessId{}) return;
  const ProcessId old_owner = x.before->owner;
  if (x.after && x.after->owner == old_owner) return;
  Ceased& last = ceased[now.setup.ParticipationIndex(old_owner.node, x.lock)];
  if (old_owner.incarnation < last.incarnation) return;
  last = {.incarnation = old_owner.incarnation, .at = now.at};
}

void HasLockTruthful::On(const QuestionAnswered& x, const Now& now) {
  if (SaysHasLock(x.answer)) JudgeYes(x.process, x.lock, x.asked_at, now);
}

void HasLockTruthful::JudgeYes(ProcessId process, uint16_t lock, Instant asked_at,
                               const Now& now) const {
  if (now.ledger.OwnerOf(lock) == process) return;
  const Ceased& last = ceased[now.setup.ParticipationIndex(process.node, lock)];
  const bool ever_owned = last.incarnation == process.incarnation;
  if (ever_owned && last.at >= asked_at) return;
  now.Violated(kInvariant, lock, [&] {
    return now.NameOf(process) + " asked at " + SinceStart(asked_at) + ", was told at " +
           SinceStart(now.at) + " that it has lock " + now.QuotedLock(lock) + ", and " +
           (ever_owned ? "had not owned it since " + SinceStart(last.at)
                       : std::string("had never owned it"));
  });
}

}  // namespace whorl::sim
