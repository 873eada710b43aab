// no_wedge: once disturbances are over and there is a healthy candidate, some running process would
// be answered "has lock" before W has passed.
//
// A lock's clock runs while all of this is true: no fault is active, no open transaction hung,
// there is a candidate, and no process would be answered "has lock".
//   - A process that leaves by its own deadline is a disturbance, like one that a fault stops, and
//     so are the transactions of a process that is gone, for the 10 s for which Spanner lets an idle
//     transaction keep its locks. Time before the end of a disturbance does not count.
//   - Nor does the time for which transactions that a running process gave up may keep their locks:
//     until their commit, or for 10 s. But such excuses postpone the violation by W + 10 s at most,
//     or a lock whose transactions all time out would excuse itself for ever.
//   - The invariant is violated when one candidate has waited for W; the next observation shows it,
//     once for each start of the clock. A candidate that leaves takes its waiting time with it: the
//     next one has all of W.
//   - If the run ends while the clock runs, the verdict is unknown.
// So it is judged of runs, not of states: a state does not show for how long it has been so.
#pragma once

#include <string>
#include <vector>

#include "sim/judge/checkers/run_now.h"
#include "sim/judge/checkers/tally.h"
#include "sim/judge/disturbances.h"

namespace whorl::sim {

struct NoWedge {
  static constexpr Invariant kInvariant = Invariant::kNoWedge;

  struct Waiting {
    ProcessId candidate;
    Instant since;
    WHORL_FIELDS(Waiting, candidate, since);
  };
  struct Clock {
    bool runs = false;
    std::vector<Waiting> waiting;  // while it runs: all candidates, by node
    Instant deadline = kNever;     // when a candidate has waited for W; kNever once passed
    WHORL_FIELDS(Clock, runs, waiting, deadline);
  };

  std::vector<Clock> clocks;  // by lock
  bool was_quiet = true;
  Instant undisturbed_from;        // the end of the last disturbance, left-over locks included
  Instant excused_until;           // when what running processes gave up is over
  Instant next_deadline = kNever;  // the earliest of all clocks
  WHORL_FIELDS(NoWedge, clocks, was_quiet, undisturbed_from, excused_until, next_deadline);

  static NoWedge For(const CheckerSetup& setup) {
    return {.clocks = std::vector<Clock>(setup.locks.size())};
  }

  void On(const ParticipationEnded& x, const RunNow& now);
  void On(const TransactionLeft& x, const RunNow& now);
  void On(const TransactionsAbandoned& x, const RunNow& now);
  void On(const CallServed& x, const RunNow& now);
  void On(const CallEnded& x, const RunNow& now);
  void On(const TransactionCommitted& x, const RunNow& now);

  // Called before the observation of this instant is handled.
  void PassTo(const RunNow& now) {
    if (now.at >= next_deadline) Expire(now);
  }
  // Called after any of the ledger's counts has changed for the lock.
  void RecomputeClock(uint16_t lock, const RunNow& now);
  // Called after a quiet time may have begun or ended, for all locks.
  void RecomputeIfQuietChanged(const RunNow& now) {
    if (now.disturbances.IsQuiet() != was_quiet) RecomputeClocks(now);
  }
  // Called when the invariant is promised again for the lock: no time before counts.
  void Restart(uint16_t lock, const RunNow& now);
  // Why the verdict is unknown at the run's end; empty if it is known.
  std::string UnknownBecause(const RunNow& end) const;

  void Expire(const RunNow& now);
  void RecomputeClocks(const RunNow& now);
  // Waiting time counts from `until` at the earliest.
  void Disturb(Instant until, const RunNow& now);
  // The same, but within the limit of excuses.
  void Excuse(Instant until, const RunNow& now);
  // When the first candidate has waited for W. REQUIRES: there is a candidate.
  Instant DeadlineOf(uint16_t lock, const RunNow& now) const;
};

}  // namespace whorl::sim
