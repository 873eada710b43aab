// Judges a whole run, from observations alone: the invariants, how often each was violated and when
// first, and the metrics.
//
// Invariants:
//   1. RunJudge is a value: copying it forks it, == compares it.
//   2. Memory does not grow with simulated time.
//   3. no_wedge, whose deadline passes in silence, is judged at the first observation at or after it.
// REQUIRES of observations: what Checkers requires.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "protocol/names.h"
#include "sim/judge/check_report.h"
#include "sim/judge/checkers.h"
#include "sim/judge/checkers/no_wedge.h"
#include "sim/judge/checkers/paced_calls.h"
#include "sim/judge/checkers/tally.h"
#include "sim/judge/disturbances.h"
#include "sim/judge/metrics_collector.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

class RunJudge {
 public:
  // As of Checkers.
  RunJudge(const Scenario& scenario, Duration round_trip_p999);

  void Observe(const Observation& observation);

  // Violations so far. To see whether an observation showed one, compare before and after.
  int64_t violations(Invariant invariant) const { return tallies_[invariant].violations; }
  int64_t violations() const;
  // Of a metric that counts: how many so far.
  int64_t Counted(Metric metric) const { return metrics_.metrics[metric]; }

  // The report of a run that ends at `end`, whether RunEnded has been observed or not.
  // REQUIRES: `end` is not before the last observation.
  CheckReport Finish(Instant end) const;

  // Whether the protocol promises the invariant for the lock at that time, which is not before the last observation.
  bool IsPromised(Invariant invariant, uint16_t lock, Instant at) const {
    return setup().promises[static_cast<size_t>(invariant)] == Promise::kPromised &&
           !tallies_.promises.IsVoid(invariant, lock, at, {}, setup());
  }

  const Ledger& ledger() const { return checkers_.ledger(); }
  const Disturbances& disturbances() const { return disturbances_; }
  const CheckerSetup& setup() const { return checkers_.setup(); }

  friend bool operator==(const RunJudge&, const RunJudge&) = default;

 private:
  class Listener;

  Checkers checkers_;
  Disturbances disturbances_;
  NoWedge no_wedge_;
  PacedCalls paced_calls_;
  MetricsCollector metrics_;
  Tallies tallies_;
};

}  // namespace whorl::sim
