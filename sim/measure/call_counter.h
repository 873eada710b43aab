// Counts the calls that processes make to Spanner in a run: in a window of steady state, and for a
// takeover.
//
// Definitions:
//   1. RPCs are calls that were sent, including retries. Calls for an application's own questions
//      (the step has_lock) and writes to the resource are not a cost of holding the lock, and do
//      not count.
//   2. A read is a call outside of a read-write transaction; a statement is any call that reads or
//      changes rows, in a transaction or not.
//   3. A read-write transaction counts once, when it starts, however often it is retried; an
//      aborted attempt counts when Spanner aborts it; a row counts when the commit that changed it
//      becomes visible.
//   4. The takeover begins with the crash of the leader and ends one lease after the first grant to
//      another process.
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

// The greatest number of events within any second.
class BusiestSecond {
 public:
  void Add(Instant at);
  int64_t most() const { return most_; }

 private:
  std::deque<Instant> second_;  // events of the second that ends now
  int64_t most_ = 0;
};

// The same counts for the takeover alone.
struct TakeoverCalls {
  CallCounts counts;
  BusiestSecond busiest;
  // Calls in the second that begins with the first read-write transaction after the old leader's
  // lease has ended.
  int64_t first_second = 0;
  std::optional<Instant> rush;     // when that second begins
  std::optional<Instant> granted;  // when another process got the lock; nothing before the takeover
};

class CallCounter final : public ObservationSink {
 public:
  // The steady state is [from, until); the leader, node 0, crashes at `crash`.
  // REQUIRES: the scenario's protocol is one of Protocols(), and `crash` is not before `until`.
  CallCounter(const Scenario& scenario, Instant from, Instant until, Instant crash);

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override;

  const CallCounts& steady() const { return steady_; }
  int64_t steady_peak() const { return steady_peak_.most(); }
  // Grants to another process before the crash: then the state was not steady.
  int64_t early_grants() const { return early_grants_; }
  const TakeoverCalls& takeover() const { return takeover_; }

 private:
  void On(const CallSent& x);
  void On(const TransactionStarted& x);
  void On(const TransactionAbortedBySpanner&);
  void On(const RowCommitted& x);

  // The counts for an event now; null if it is in neither window.
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
  Ledger ledger_;  // receives rows only, to find grants
  Instant now_;
  CallCounts steady_;
  BusiestSecond steady_peak_;
  int64_t early_grants_ = 0;
  TakeoverCalls takeover_;
};

}  // namespace whorl::sim
