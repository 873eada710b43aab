// Counts what a run's metrics and `sometimes` goals are about (metrics.h says which).
//
// Where the definitions leave room:
//   1. The last owner of a row that was there at the start is nobody, so the first grant over it
//      is no takeover; a deleted row's last owner is remembered.
//   2. A process of another incarnation is another process: its grant is a takeover.
//   3. A write is legitimate if its process owns the lock's newest version when it arrives, and did
//      when it was sent: a late write of an earlier term of one's own is as stale as anybody's.
//   4. Transactions are counted when they start and calls when they are sent, attempts that
//      Spanner aborted when it does so.
//   5. An owner's heartbeat that replaces the token (spindle v3) is no grant; the same process
//      taking the lock again is one.
//   6. Nobody holds a lock, or two believe, from and to the instants of observations; what is
//      left open when the run ends, ends with it.
#pragma once

#include <optional>
#include <vector>

#include "protocol/spanner/fields.h"
#include "sim/judge/checkers/tally.h"
#include "sim/scenario/metrics.h"

namespace whorl::sim {

struct MetricsCollector {
  struct WriteUnderWay {
    ProcessId process;
    bool fenced = false;
    std::optional<uint64_t> token;
    Instant sent_at;
    WHORL_FIELDS(WriteUnderWay, process, fenced, token, sent_at);
  };
  struct OfLock {
    std::optional<Instant> without_holder_since = Instant{};  // a run begins without one
    std::optional<Instant> overlap_since;
    Instant granted_at;                 // when the newest version's grant was seen
    std::vector<WriteUnderWay> writes;  // in the order in which they were sent
    WHORL_FIELDS(OfLock, without_holder_since, overlap_since, granted_at, writes);
  };

  Metrics metrics;  // of times, only the intervals that have ended
  std::vector<OfLock> locks;
  WHORL_FIELDS(MetricsCollector, metrics, locks);

  static MetricsCollector For(const CheckerSetup& setup) {
    return {.metrics = {}, .locks = std::vector<OfLock>(setup.locks.size())};
  }

  void On(const VersionChanged& x, const Now& now);
  void On(const WriteSent& x, const Now& now) {
    locks[x.lock].writes.push_back(
        {.process = x.process, .fenced = x.fenced, .token = x.token, .sent_at = now.at});
  }
  void On(const WriteArrived& x, const Now& now);
  void On(const TransactionLeft& x, const Now& now);
  void On(const TransactionCommitted& x, const Now&) {
    if (!x.waited_for_truetime) ++metrics[Sometimes::kCommitWaitOverlap];
  }
  void On(const CallSent&, const Now&) { ++metrics[Metric::kRpcs]; }
  void On(const CallWaits&, const Now&) { ++metrics[Sometimes::kLockWait]; }
  void On(const LateReplyIgnored&, const Now&) { ++metrics[Sometimes::kLateReplyIgnored]; }
  void On(const TransactionStarted&, const Now&) { ++metrics[Metric::kTransactions]; }
  void On(const TransactionAbortedBySpanner&, const Now&) {
    Count(Metric::kAborted, Sometimes::kAborted);
  }
  void On(const SteppedDown&, const Now&) { ++metrics[Sometimes::kStepDown]; }
  void On(const Noted& x, const Now&) {
    if (x.note.note == NoteId::kOutcomeReadBack) ++metrics[Sometimes::kUnknownResolved];
    if (x.note.note == NoteId::kClockStoodStill) ++metrics[Sometimes::kClockStopNoticed];
  }

  // After anything that the ledger counts has changed for the lock.
  void Settle(uint16_t lock, const Now& now);
  // With all open intervals ended. REQUIRES: `end` is not before the last observation.
  Metrics Until(Instant end) const;

  void Count(Metric metric, Sometimes goal) {
    ++metrics[metric];
    ++metrics[goal];
  }
};

}  // namespace whorl::sim
