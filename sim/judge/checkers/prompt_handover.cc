#include "sim/judge/checkers/prompt_handover.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace whorl::sim {
namespace {

Duration RoundTrips(const CheckerSetup& setup) {
  return Seconds(1) + setup.round_trip_p999 * 8 + setup.host_delay;
}

// Whether enough of the lease is left for the process to be sure that the row is still its own.
bool IsWithinLease(const Version& newest, ProcessId owner, const Now& now) {
  const Duration margin =
      now.setup.Node(owner.node).lease / 20 + now.setup.round_trip_p999 * 4 + now.setup.host_delay;
  return !newest.lease_until || ToTimestamp(now.at + margin) < *newest.lease_until;
}

bool IsGivenBack(const VersionChanged& x) {
  if (x.writer == ProcessId{}) return false;
  const bool released = x.after && x.after->released && !(x.before && x.before->released);
  return released || x.kind == TokenChange::kReleased;
}

}  // namespace

PromptHandover::Part* PromptHandover::PartOf(ProcessId process, uint16_t lock,
                                             const CheckerSetup& setup) {
  if (process == ProcessId{}) return nullptr;
  Part& part = parts[setup.ParticipationIndex(process.node, lock)];
  return part.process == process ? &part : nullptr;
}

bool PromptHandover::IsUndisturbed(const Obligation& obligation, const RunNow& now) const {
  return faults == 0 && !now.disturbances.Hangs() &&
         (disturbed == kNever || disturbed + now.setup.rules->handover.settles <= obligation.since);
}

void PromptHandover::CountFault(uint32_t fault, int64_t more, const RunNow& now) {
  const std::vector<uint8_t>& orderly = now.setup.orderly_faults;
  if (fault < orderly.size() && orderly[fault] != 0) return;
  faults += more;
  disturbed = now.at;
}

void PromptHandover::On(const TransactionLeft& x, const RunNow& now) {
  const std::span<const StepName> locking = now.setup.rules->locking_steps;
  const bool is_given_up = x.code == Code::kCancelled || x.code == Code::kDeadlineExceeded ||
                           x.code == Code::kUnavailable;
  const bool leaves_locks = is_given_up && std::ranges::find(locking, x.step) != locking.end();
  if (x.hung || leaves_locks) disturbed = now.at;
}

// --- a process gives the lock back ---------------------------------------------------------------

void PromptHandover::OweRelease(Part& part, uint16_t lock, const RunNow& now) {
  const std::optional<Version>& newest = now.ledger.Newest(lock);
  if (!now.setup.rules->handover.gives_back) return;
  if (!newest || !newest->held || newest->released || newest->owner != part.process) return;
  if (!IsWithinLease(*newest, part.process, now)) return;
  // Its own deadline may be earlier than the row says, if it never learned that its last renewal was committed.
  const std::optional<Token> own = now.ledger.OwnToken(part.process, lock, now.setup);
  if (newest->token && own != newest->token) return;
  SetGivesBack(now.setup.ParticipationIndex(part.process.node, lock),
               {.since = now.at, .due = now.at + RoundTrips(now.setup)});
}

void PromptHandover::Forget(ProcessId process, uint16_t lock, const RunNow& now) {
  const size_t index = now.setup.ParticipationIndex(process.node, lock);
  parts[index] = {.process = process};
  due_back.Set(index, kNever);
}

void PromptHandover::BeginAnew(ProcessId process, const RunNow& now) {
  for (const uint16_t lock : now.setup.Node(process.node).locks) {
    Forget(process, lock, now);
    if (taken[lock].due != kNever) OweTaking(lock, now);
  }
}

void PromptHandover::On(const ProcessGone& x, const RunNow& now) {
  for (const uint16_t lock : now.setup.Node(x.process.node).locks) {
    if (Part* part = PartOf(x.process, lock, now.setup)) {
      // Its release may be on the way, and it announces nothing any more.
      if (part->gives_back.due != kNever) disturbed = now.at;
      Forget(x.process, lock, now);
    }
    if (taken[lock].due != kNever) OweTaking(lock, now);
  }
}

void PromptHandover::On(const ProcessStopped& x, const RunNow& now) {
  for (const uint16_t lock : now.setup.Node(x.process.node).locks) {
    Part* part = PartOf(x.process, lock, now.setup);
    if (part != nullptr && !part->ended) part->led = part->led || part->believes;
    if (taken[lock].due != kNever) OweTaking(lock, now);
  }
}

void PromptHandover::On(const ParticipationEnded& x, const RunNow& now) {
  Part* part = PartOf(x.process, x.lock, now.setup);
  if (part == nullptr || part->ended) return;
  part->ended = true;
  part->led = part->led || part->believes;
  if (part->led && !now.ledger.IsAtWork(x.process, x.lock, now.setup)) {
    OweRelease(*part, x.lock, now);
  }
  if (taken[x.lock].due != kNever) OweTaking(x.lock, now);
}

void PromptHandover::On(const BeliefChanged& x, const RunNow& now) {
  if (Part* part = PartOf(x.process, x.lock, now.setup)) part->believes = x.believes;
}

void PromptHandover::On(const WorkChanged& x, const RunNow& now) {
  Part* part = PartOf(x.process, x.lock, now.setup);
  if (part != nullptr && part->led && part->ended && !x.at_work) OweRelease(*part, x.lock, now);
}

void PromptHandover::On(const TransactionFinished& x, const RunNow& now) {
  Part* part = PartOf(x.process, x.lock, now.setup);
  const Rules& rules = *now.setup.rules;
  if (part == nullptr || !part->ended || part->led) return;
  if (!rules.handover.gives_back_late_grants || x.outcome != Outcome::kCommitted) return;
  const bool writes = std::ranges::find(rules.locking_steps, x.step) != rules.locking_steps.end();
  if (writes) OweRelease(*part, x.lock, now);
}

// --- another one takes it ------------------------------------------------------------------------

void PromptHandover::OweTaking(uint16_t lock, const RunNow& now) {
  const HandoverRule& rule = now.setup.rules->handover;
  Obligation clock = {.since = now.at, .due = kNever};
  if (now.ledger.CandidateCount(lock) > 0) {
    const int64_t percent =
        now.setup.announces_releases ? rule.announced_percent : rule.poll_percent;
    clock.due =
        now.at + now.setup.locks[lock].longest_lease * percent / 100 + RoundTrips(now.setup);
  }
  SetTaken(lock, clock);
}

void PromptHandover::On(const VersionChanged& x, const RunNow& now) {
  const bool given_back = IsGivenBack(x);
  if (!now.setup.rules->handover.gives_back) return;
  // A release may leave the token in the row.
  if (x.kind == TokenChange::kKept && !given_back) return;
  // Backwards, since SetGivesBack removes what it looks at.
  for (size_t i = due_back.dues.size(); i-- > 0;) {
    const size_t index = due_back.dues[i].place;
    if (index % now.setup.locks.size() != x.lock) continue;
    const bool keeps = x.after && x.after->owner == parts[index].process && !x.after->released;
    if (!keeps) SetGivesBack(index, {});
  }
  SetTaken(x.lock, {});
  if (given_back) return OweTaking(x.lock, now);
}

void PromptHandover::Expire(const RunNow& now) {
  for (const auto& [index, due] : due_back.TakePassed(now.at)) {
    Part& part = parts[index];
    const Obligation clock = std::exchange(part.gives_back, {});
    if (!IsUndisturbed(clock, now)) continue;
    const auto lock = static_cast<uint16_t>(index % now.setup.locks.size());
    now.Violated({.invariant = kInvariant, .lock = lock, .at = due, .by = {}}, [&] {
      return now.NameOf(part.process) + " had not given lock " + now.QuotedLock(lock) + " back " +
             FormatDuration(clock.due - clock.since) + " after it had ended its part and its work";
    });
  }
  for (const auto& [index, due] : due_taken.TakePassed(now.at)) {
    const Obligation clock = std::exchange(taken[index], {});
    if (!IsUndisturbed(clock, now)) continue;
    const auto lock = static_cast<uint16_t>(index);
    now.Violated({.invariant = kInvariant, .lock = lock, .at = due, .by = {}}, [&] {
      return "nobody had taken lock " + now.QuotedLock(lock) + " " +
             FormatDuration(clock.due - clock.since) + " after it was given back" +
             (now.setup.announces_releases ? ", which was announced" : "");
    });
  }
}

}  // namespace whorl::sim
