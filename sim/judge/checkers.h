// Judges a run: checks the invariants and counts the metrics, from observations alone.
//
// Invariants:
//   1. Checkers is a value: copying it forks it, == compares it. What never changes (names, leases,
//      the protocol's rules) is shared by all copies.
//   2. Memory does not grow with simulated time, and an observation costs O(1) or O(log n) in the
//      number of processes (ledger.h says which).
//   3. Every invariant is judged, whether the protocol promises it or not. A deadline is judged at
//      the first observation at or after it.
// REQUIRES of observations: `lock`, also in a CallName, is an index into Scenario::locks; a node
// has one process at a time, so ProcessGone of the old one comes before ProcessStarted of the next.
#pragma once

#include <cstdint>
#include <memory>
#include <tuple>

#include "protocol/names.h"
#include "protocol/spanner/time.h"
#include "sim/judge/check_report.h"
#include "sim/judge/checkers/fenced_writes_ordered.h"
#include "sim/judge/checkers/handed_token_monotonic.h"
#include "sim/judge/checkers/has_lock_truthful.h"
#include "sim/judge/checkers/isolation.h"
#include "sim/judge/checkers/lease_respected.h"
#include "sim/judge/checkers/no_wedge.h"
#include "sim/judge/checkers/no_work_after_release.h"
#include "sim/judge/checkers/one_live_token.h"
#include "sim/judge/checkers/setup.h"
#include "sim/judge/checkers/single_leader_belief.h"
#include "sim/judge/checkers/single_worker.h"
#include "sim/judge/checkers/token_monotonic.h"
#include "sim/judge/ledger.h"
#include "sim/judge/metrics_collector.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

class Checkers {
 public:
  // `round_trip_p999` is a call's p99.9 under the scenario's preset; no_wedge allows four of them.
  // REQUIRES: FindProtocol(scenario.protocol) is not null.
  Checkers(const Scenario& scenario, Duration round_trip_p999);

  void Observe(const Observation& observation);

  // Whether verdicts, but for no_wedge's, or what judges know can depend on it.
  static bool Concerns(const Observation& observation);

  // Violations so far. To see whether an observation showed one, compare before and after.
  int64_t violations(Invariant invariant) const;
  int64_t violations() const;
  // The invariants violated since the last call, as bits by Invariant. Forgets the violations.
  uint32_t TakeViolated();
  // Adds what later verdicts depend on and the world does not show, but for no_wedge, whose clocks
  // would keep worlds apart at each instant. Gates are of questions for has_lock, by
  // CheckerSetup::ParticipationIndex.
  void AddMemory(CanonicalForm& form) const;
  // Adds what verdicts depend on and the world does show, but for no_wedge.
  void AddKnown(CanonicalForm& form) const { ledger_.AddKnown(form); }

  // The report of a run that ends at `end`, whether RunEnded has been observed or not.
  // REQUIRES: `end` is not before the last observation.
  CheckReport Finish(Instant end) const;

  const Ledger& ledger() const { return ledger_; }
  const CheckerSetup& setup() const { return *setup_; }

  friend bool operator==(const Checkers& a, const Checkers& b) {
    return (a.setup_ == b.setup_ || *a.setup_ == *b.setup_) && a.observations_ == b.observations_ &&
           a.ledger_ == b.ledger_ && a.judges_ == b.judges_ && a.metrics_ == b.metrics_;
  }

 private:
  // In the order of Invariant; checkers.cc asserts that.
  using Judges = std::tuple<OneLiveToken, TokenMonotonic, HandedTokenMonotonic, HasLockTruthful,
                            LeaseRespected, FencedWritesOrdered, SingleLeaderBelief, Isolation,
                            NoWedge, NoWorkAfterRelease, SingleWorker>;

  // Updates the ledger, then notifies the judges of the observation and of the ledger's change,
  // then settles the locks whose counts may have changed.
  template <typename Observed>
  void Take(const Observed& x, const Now& now);
  void Take(const RowCommitted& x, const Now& now);
  void Take(const StandingChanged& x, const Now& now);
  // Calls On() of every judge, and of the metrics, that has one for such a change.
  template <typename Change>
  void Notify(const Change& x, const Now& now);
  void Settle(uint16_t lock, const Now& now);

  NoWedge& no_wedge() { return std::get<NoWedge>(judges_); }

  std::shared_ptr<const CheckerSetup> setup_;
  uint64_t observations_ = 0;
  Ledger ledger_;
  Judges judges_;
  MetricsCollector metrics_;
};

}  // namespace whorl::sim
