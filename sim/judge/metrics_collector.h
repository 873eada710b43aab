// Counts a run's metrics and `sometimes` goals (sim/scenario/metrics.h lists them).
//
// Where the definitions leave room:
//   1. The last owner of an initial row is nobody, so the first grant over it is no takeover. The
//      last owner of a deleted row is remembered.
//   2. Another incarnation is another process, so its grant is a takeover.
//   3. Which writes are legitimate, and which stale, lock_writes.h says.
//   4. Transactions are counted when they start, calls when they are sent, and aborted attempts
//      when Spanner aborts them.
//   5. An owner's heartbeat that replaces the token (spindle v3) is no grant. If the same process
//      takes the lock again, that is a grant.
//   6. Times without a holder, and times in which two processes believe or are at work, begin and end at the
//      instants of observations. An open interval ends when the run ends.
#pragma once

#include <optional>
#include <vector>

#include "protocol/spanner/fields.h"
#include "sim/judge/checkers/tally.h"
#include "sim/judge/disturbances.h"
#include "sim/judge/lock_writes.h"
#include "sim/scenario/metrics.h"

namespace whorl::sim {

struct MetricsCollector {
  struct OfLock {
    std::optional<Instant> without_holder_since = Instant{};  // a run begins without one
    std::optional<Instant> overlap_since;
    std::optional<Instant> work_overlap_since;
    LockWrites writes;
    ProcessId granted_to;               // nobody: none, or it has believed since
    Instant granted_at;                 // its first grant since another's
    std::optional<Instant> renewed_at;  // by the present owner
    WHORL_FIELDS(OfLock, without_holder_since, overlap_since, work_overlap_since, writes,
                 granted_to, granted_at, renewed_at);
  };
  // Calls of a node's processes for a lock.
  struct OfPart {
    Instant second;         // when the present second began
    int64_t in_second = 0;  // calls since then
    WHORL_FIELDS(OfPart, second, in_second);
  };

  Metrics metrics;  // times include only the intervals that have ended
  std::vector<OfLock> locks;
  std::vector<OfPart> parts;  // by CheckerSetup::ParticipationIndex
  WHORL_FIELDS(MetricsCollector, metrics, locks, parts);

  static MetricsCollector For(const CheckerSetup& setup) {
    return {.metrics = {},
            .locks = std::vector<OfLock>(setup.locks.size()),
            .parts = std::vector<OfPart>(setup.ParticipationCount())};
  }

  void On(const VersionChanged& x, const Now& now);
  void On(const WriteSent& x, const Now& now) { locks[x.lock].writes.Send(x, now.at); }
  void On(const WriteArrived& x, const Now& now);
  void On(const TransactionLeft& x, const Now& now);
  void On(const TransactionCommitted& x, const Now&) {
    if (!x.waited_for_truetime) ++metrics[Sometimes::kCommitWaitOverlap];
  }
  void On(const CallSent& x, const Now& now);
  void On(const BeliefBegan& x, const Now& now);
  void On(const CallWaits&, const Now&) { ++metrics[Sometimes::kLockWait]; }
  void On(const LateReplyIgnored&, const Now&) { ++metrics[Sometimes::kLateReplyIgnored]; }
  void On(const TransactionStarted&, const Now&) { ++metrics[Metric::kTransactions]; }
  void On(const TransactionAbortedBySpanner&, const Now&) {
    Count(Metric::kAborted, Sometimes::kAborted);
  }
  void On(const SteppedDown&, const Now&) { ++metrics[Sometimes::kStepDown]; }
  void On(const Noted& x, const Now&) {
    if (x.note.note == notes::kOutcomeReadBack) ++metrics[Sometimes::kUnknownResolved];
    if (x.note.note == notes::kClockStoodStill) ++metrics[Sometimes::kClockStopNoticed];
  }

  // After anything that the ledger counts has changed for the lock.
  void UpdateIntervals(uint16_t lock, const Now& now);
  // The metrics if all open intervals end at `end`. REQUIRES: `end` is not before the last
  // observation.
  Metrics Until(Instant end) const;

  void NoteRenewal(const VersionChanged& x, const Now& now);

  void Count(Metric metric, Sometimes goal) {
    ++metrics[metric];
    ++metrics[goal];
  }
};

}  // namespace whorl::sim
