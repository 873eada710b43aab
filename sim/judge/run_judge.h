// Judges a whole run, from observations alone: the invariants, how often each was violated and when
// first, and the metrics.
//
// Invariants:
//   1. RunJudge is a value: copying it forks it, == compares it.
//   2. Memory does not grow with simulated time.
//   3. What has a deadline, which passes in silence, is judged at the first observation after it.
// REQUIRES of observations: what Checkers requires.
#pragma once

#include <cstdint>
#include <tuple>

#include "base/time.h"
#include "protocol/names.h"
#include "sim/judge/check_report.h"
#include "sim/judge/checkers.h"
#include "sim/judge/checkers/answered_in_time.h"
#include "sim/judge/checkers/has_lock_truthful.h"
#include "sim/judge/checkers/no_wedge.h"
#include "sim/judge/checkers/paced_calls.h"
#include "sim/judge/checkers/prompt_handover.h"
#include "sim/judge/checkers/reasoned_step_down.h"
#include "sim/judge/checkers/tally.h"
#include "sim/judge/checkers/told_of_leadership.h"
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

  // Whatever is due by a time may be as late as this: for processes on a machine that has other things to do.
  // REQUIRES: nothing was observed.
  void AllowHostDelay(Duration delay) { checkers_.AllowHostDelay(delay); }

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

  // What else is judged of runs only.
  using InTime = std::tuple<PacedCalls, ToldOfLeadership, AnsweredInTime, ReasonedStepDown,
                            PromptHandover, LockTruthful>;

  // Judges what was due before now.
  static void PassTo(const RunNow& now, NoWedge& no_wedge, InTime& in_time);

  Checkers checkers_;
  Disturbances disturbances_;
  NoWedge no_wedge_;
  InTime in_time_;
  MetricsCollector metrics_;
  Tallies tallies_;
};

}  // namespace whorl::sim
