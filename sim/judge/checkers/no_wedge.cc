#include "sim/judge/checkers/no_wedge.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "sim/world/copied_call.h"

namespace whorl::sim {
namespace {

using Clock = NoWedge::Clock;

// The new list of candidates; those that were in the old one keep their `since`.
void Follow(std::vector<NoWedge::Waiting>& waiting, const std::vector<ProcessId>& candidates,
            Instant now) {
  std::vector<NoWedge::Waiting> all;
  all.reserve(candidates.size());
  for (const ProcessId candidate : candidates) {
    const auto known = std::ranges::find(waiting, candidate, &NoWedge::Waiting::candidate);
    all.push_back({.candidate = candidate, .since = known == waiting.end() ? now : known->since});
  }
  waiting = std::move(all);
}

// REQUIRES: `waiting` is not empty.
Instant FirstOf(const std::vector<NoWedge::Waiting>& waiting) {
  return std::ranges::min_element(waiting, {}, &NoWedge::Waiting::since)->since;
}

// How long after its last call Spanner may abort a transaction that blocks another.
constexpr Duration kIdleLimit = Seconds(10);

bool Locks(const RunNow& now, StepName step) {
  const std::span<const StepName> locking = now.setup.rules->locking_steps;
  return std::ranges::find(locking, step) != locking.end();
}

// Whether the client stopped waiting, so Spanner may not know that the transaction has ended.
bool IsGivenUp(const TransactionLeft& left) {
  return left.code == Code::kCancelled || left.code == Code::kDeadlineExceeded ||
         left.code == Code::kUnavailable;
}

// Whether the call may leave its transaction open.
bool LeavesOpen(const CallServed& served) {
  static const size_t commit = Request(Commit{}).index();
  static const size_t rollback = Request(Rollback{}).index();
  return served.code == Code::kOk && served.request != commit && served.request != rollback;
}

// Whether the Commit failed otherwise than by Spanner's abort. No client rolls back after that, so
// if something before Spanner answered in its place, the transaction keeps its locks.
bool FailsAtTheEnd(const CallServed& served) {
  static const size_t commit = Request(Commit{}).index();
  return served.request == commit && served.code != Code::kOk && served.code != Code::kAborted;
}

bool EndsBefore(const Clock& a, const Clock& b) { return a.deadline < b.deadline; }

Instant LeastDeadline(const std::vector<Clock>& clocks) {
  const auto least = std::min_element(clocks.begin(), clocks.end(), EndsBefore);
  return least == clocks.end() ? kNever : least->deadline;
}

}  // namespace

void NoWedge::RecomputeClock(uint16_t lock, const RunNow& now) {
  const bool runs =
      was_quiet && now.ledger.CandidateCount(lock) > 0 && now.ledger.AnsweredCount(lock) == 0;
  Clock& clock = clocks[lock];
  if (!runs && !clock.runs) return;
  const bool has_passed = clock.runs && clock.deadline == kNever;
  const bool was_next = clock.deadline == next_deadline;
  clock.runs = runs;
  Follow(clock.waiting, runs ? now.ledger.Candidates(lock, now.setup) : std::vector<ProcessId>{},
         now.at);
  clock.deadline = runs && !has_passed ? DeadlineOf(lock, now) : kNever;
  next_deadline = was_next ? LeastDeadline(clocks) : std::min(next_deadline, clock.deadline);
}

Instant NoWedge::DeadlineOf(uint16_t lock, const RunNow& now) const {
  const Duration bound = now.setup.locks[lock].wedge_bound;
  const Instant start = std::max(FirstOf(clocks[lock].waiting), undisturbed_from);
  const Instant latest = start + bound + kIdleLimit;
  return std::clamp(excused_until, start, latest) + bound;
}

void NoWedge::On(const ParticipationEnded&, const RunNow& now) { Disturb(now.at, now); }

void NoWedge::On(const TransactionLeft& x, const RunNow& now) {
  if (IsGivenUp(x) && Locks(now, x.step)) Excuse(now.at + kIdleLimit, now);
}

void NoWedge::On(const TransactionsAbandoned& x, const RunNow& now) {
  const bool locks = std::ranges::any_of(x.steps, [&](StepName step) { return Locks(now, step); });
  if (locks) Disturb(now.at + kIdleLimit, now);
}

void NoWedge::On(const CallServed& x, const RunNow& now) {
  if (!Locks(now, x.step)) return;
  const bool is_left = LeavesOpen(x) && !now.IsAwaited(x.call);
  // A copy that a fault has sent is a disturbance, and calls of a process that is gone or takes part no longer are
  // served once: neither can go on for ever.
  if (is_left && IsCopy(x.call)) return Disturb(now.at + kIdleLimit, now);
  if (is_left && !now.ledger.TakesPart(x.call.process, x.call.lock, now.setup)) {
    return Disturb(now.at + kIdleLimit, now);
  }
  if (is_left || FailsAtTheEnd(x)) Excuse(now.at + kIdleLimit, now);
}

// A call that the transport ended may have begun an attempt that its process never learns of. The
// next attempt begins a new transaction, and waits for that one's locks.
void NoWedge::On(const CallEnded& x, const RunNow& now) {
  if (!x.from_spanner && Locks(now, x.step)) Excuse(now.at + kIdleLimit, now);
}

void NoWedge::On(const TransactionCommitted& x, const RunNow& now) {
  if (!now.IsAwaited(x.call)) Excuse(now.at, now);
}

void NoWedge::Disturb(Instant until, const RunNow& now) {
  if (until <= undisturbed_from) return;
  undisturbed_from = until;
  RecomputeClocks(now);
}

void NoWedge::Excuse(Instant until, const RunNow& now) {
  if (until <= excused_until) return;
  excused_until = until;
  RecomputeClocks(now);
}

void NoWedge::Restart(uint16_t lock, const RunNow& now) {
  clocks[lock] = {};
  next_deadline = LeastDeadline(clocks);
  RecomputeClock(lock, now);
}

void NoWedge::RecomputeClocks(const RunNow& now) {
  was_quiet = now.disturbances.IsQuiet();
  for (size_t lock = 0; lock < clocks.size(); ++lock)
    RecomputeClock(static_cast<uint16_t>(lock), now);
}

void NoWedge::Expire(const RunNow& now) {
  while (next_deadline <= now.at) {
    const auto first = std::min_element(clocks.begin(), clocks.end(), EndsBefore);
    const auto lock = static_cast<uint16_t>(first - clocks.begin());
    now.Violated({.invariant = kInvariant, .lock = lock, .at = first->deadline, .by = {}}, [&] {
      return "for " + FormatDuration(now.setup.locks[lock].wedge_bound) +
             " without a disturbance nobody would have been answered that it has lock " +
             now.QuotedLock(lock);
    });
    first->deadline = kNever;
    next_deadline = LeastDeadline(clocks);
  }
}

std::string NoWedge::UnknownBecause(const RunNow& end) const {
  const auto last =
      std::max_element(clocks.begin(), clocks.end(), [](const Clock& a, const Clock& b) {
        const auto key = [](const Clock& c) {
          return c.deadline == kNever ? Instant{} : c.deadline;
        };
        return key(a) < key(b);
      });
  if (last == clocks.end() || !last->runs || last->deadline == kNever) return "";
  const auto lock = static_cast<uint16_t>(last - clocks.begin());
  const Duration bound = end.setup.locks[lock].wedge_bound;
  const Duration left = last->deadline - end.at;
  // Negative while abandoned transactions delay the clock.
  const Duration passed = std::max(bound - left, Duration{});
  return "at the end nobody had held lock " + end.QuotedLock(lock) + " for " +
         FormatDuration(passed) + " of the " + FormatDuration(bound) +
         " that may pass; the run should last " + FormatDuration(left) + " longer";
}

}  // namespace whorl::sim
