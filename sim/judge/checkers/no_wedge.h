// no_wedge: once disturbances are over and a healthy candidate is there, some running process
// would be answered "has lock" before W has passed.
//
// A lock's clock starts when all of this has become true, and ends when any of it no longer is:
// no fault is active, no transaction that met one is unfinished, there is a candidate, and nobody
// would be answered. What a transaction leaves behind that nobody waits for any more takes the time
// before it back: its commit, and the 10 s for which Spanner lets it keep its locks. So does a
// process that leaves by its own deadline, as one that a fault stops. Violated at the instant at
// which one candidate has waited for W, which the next observation shows; once for each start of
// the clock. One that leaves takes its waiting with it: whoever comes after it has all of W. A run
// that ends while the clock runs cannot tell.
#pragma once

#include <string>
#include <vector>

#include "sim/judge/checkers/tally.h"

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
    Instant deadline = kNever;     // of the first of them; kNever also when it has passed already
    WHORL_FIELDS(Clock, runs, waiting, deadline);
  };

  Tally tally;
  std::vector<Clock> clocks;  // by lock
  bool was_quiet = true;
  Instant undisturbed_from;        // by what was left behind
  Instant next_deadline = kNever;  // the least of all
  WHORL_FIELDS(NoWedge, tally, clocks, was_quiet, undisturbed_from, next_deadline);

  static NoWedge For(const CheckerSetup& setup) {
    return {.tally = {}, .clocks = std::vector<Clock>(setup.locks.size())};
  }

  void On(const ParticipationEnded& x, const Now& now);
  void On(const TransactionLeft& x, const Now& now);
  void On(const TransactionsAbandoned& x, const Now& now);
  void On(const CallServed& x, const Now& now);
  void On(const CallEnded& x, const Now& now);
  void On(const TransactionCommitted& x, const Now& now);

  // Before the observation of this instant is taken in.
  void PassTo(const Now& now) {
    if (now.at >= next_deadline) Expire(now);
  }
  // After anything that the ledger counts has changed for the lock.
  void Settle(uint16_t lock, const Now& now);
  // The same for what holds for all locks.
  void SettleQuiet(const Now& now) {
    if (now.ledger.IsQuiet() != was_quiet) SettleAll(now);
  }
  // Why it cannot be told at the run's end; empty when it can.
  std::string UnknownBecause(const Now& end) const;

  void Expire(const Now& now);
  void SettleAll(const Now& now);
  // Time counts from then on, if it did not already count from later.
  void Disturb(Instant until, const Now& now);
};

}  // namespace whorl::sim
