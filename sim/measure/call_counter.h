// Counts what processes ask of Spanner in a run: in a window of steady state, and for a takeover.
//
// What counts as what:
//   1. RPCs are calls that were sent, retries included. Those of an application's own question
//      (the step has_lock) and writes to the resource are no cost of holding the lock, and are left
//      out.
//   2. A read is a call outside of a read-write transaction; a statement is any call that reads or
//      changes rows, in a transaction or not.
//   3. A read-write transaction counts when it starts, however often it is begun; an aborted
//      attempt when Spanner aborts it; a row when a commit that changed it becomes visible.
//   4. The takeover begins with the crash of the leader, and is over one lease after the first
//      grant to another process.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "protocol/protocols.h"
#include "protocol/spanner/fields.h"
#include "sim/judge/checkers/setup.h"
#include "sim/judge/ledger.h"
#include "sim/judge/run.h"
#include "sim/scenario/instant.h"

namespace whorl::sim {

struct CallCounts {
  int64_t rpcs = 0;
  int64_t reads = 0;
  int64_t transactions = 0;  // read-write
  int64_t aborted = 0;       // attempts
  int64_t rows = 0;          // written
  int64_t statements = 0;
  int64_t commits = 0;  // calls of Commit
  WHORL_FIELDS(CallCounts, rpcs, reads, transactions, aborted, rows, statements, commits);

  void Add(const CallCounts& other);
};

// The most that came within any second.
class BusiestSecond {
 public:
  void Add(Instant at);
  int64_t most() const { return most_; }

 private:
  std::deque<Instant> second_;  // that ends now
  int64_t most_ = 0;
};

// The same, begun anew for the takeover.
struct TakeoverCalls {
  CallCounts counts;
  BusiestSecond busiest;
  // In the second that begins when somebody first starts a read-write transaction after the old
  // leader's lease was over.
  int64_t first_second = 0;
  std::optional<Instant> rush;     // when that was
  std::optional<Instant> granted;  // to another process; no takeover has come while it is nothing
};

class CallCounter final : public ObservationSink {
 public:
  // Counts from `from` on and before `until`; the leader crashes at `crash`, which is not before.
  // REQUIRES: the scenario's protocol is known, and node 0 is the one that crashes.
  CallCounter(const Scenario& scenario, Instant from, Instant until, Instant crash);

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override;

  const CallCounts& steady() const { return steady_; }
  int64_t steady_peak() const { return steady_peak_.most(); }
  // Grants before the crash to another process than node 0's: the steady state was none.
  int64_t early_grants() const { return early_grants_; }
  const TakeoverCalls& takeover() const { return takeover_; }

 private:
  void On(const CallSent& x);
  void On(const TransactionStarted& x);
  void On(const TransactionAbortedBySpanner&);
  void On(const RowCommitted& x);

  // Where something that happens now is counted; null when it is in neither window.
  CallCounts* Counts();
  bool IsSteady() const { return from_ <= now_ && now_ < until_; }
  bool IsTakeover() const;
  bool IsRead(StepName step) const;

  Instant from_;
  Instant until_;
  Instant crash_;
  Duration lease_;
  const ProtocolInfo& protocol_;
  CheckerSetup setup_;
  Ledger ledger_;  // hears of rows alone: who was granted the lock
  Instant now_;
  CallCounts steady_;
  BusiestSecond steady_peak_;
  int64_t early_grants_ = 0;
  TakeoverCalls takeover_;
};

}  // namespace whorl::sim
