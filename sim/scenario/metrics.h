// Lists what a run counts (metrics), and what it must meet at least once not to be vacuous
// (`sometimes`).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "protocol/spanner/fields.h"
#include "protocol/spanner/words.h"

namespace whorl::sim {

enum class Metric : uint8_t {
  kGrants,            // a token was installed, re-acquisition by the same process included
  kTakeovers,         // grants to another process than the last owner
  kWithoutHolderMax,  // ns of true time in which no running process would be answered "has lock"
  kWithoutHolderSum,
  kBeliefOverlapMax,  // ns of true time in which two processes believed
  kBeliefOverlapSum,
  kWorkOverlapMax,  // ns of true time in which two processes were at work
  kWorkOverlapSum,
  kStaleWriteRefused,
  kStaleWriteAccepted,  // by the resource that does not fence
  kLegitimateWriteRefused,
  kNeedlessTakeovers,  // the old owner was up, connected and renewing
  kTransactions,
  kRpcs,
  kAborted,
  kCallsInSecondMax,   // calls of one process for one lock, in seconds that follow each other
  kGrantToBeliefMax,   // ns of true time from a grant until its process believes
  kRenewalPercentMax,  // between two writes of an owner, in percent of its lease
};
constexpr auto WordTableOf(Metric) {
  return MakeWordTable<Metric>({
      {Metric::kGrants, "grants"},
      {Metric::kTakeovers, "takeovers"},
      {Metric::kWithoutHolderMax, "without_holder_max"},
      {Metric::kWithoutHolderSum, "without_holder_sum"},
      {Metric::kBeliefOverlapMax, "belief_overlap_max"},
      {Metric::kBeliefOverlapSum, "belief_overlap_sum"},
      {Metric::kWorkOverlapMax, "work_overlap_max"},
      {Metric::kWorkOverlapSum, "work_overlap_sum"},
      {Metric::kStaleWriteRefused, "stale_write_refused"},
      {Metric::kStaleWriteAccepted, "stale_write_accepted"},
      {Metric::kLegitimateWriteRefused, "legitimate_write_refused"},
      {Metric::kNeedlessTakeovers, "needless_takeovers"},
      {Metric::kTransactions, "transactions"},
      {Metric::kRpcs, "rpcs"},
      {Metric::kAborted, "aborted"},
      {Metric::kCallsInSecondMax, "calls_in_second_max"},
      {Metric::kGrantToBeliefMax, "grant_to_belief_max"},
      {Metric::kRenewalPercentMax, "renewal_percent_max"},
  });
}
// Whether the metric is a time in nanoseconds, written with a unit in scenarios.
constexpr bool IsTime(Metric metric) {
  return (metric >= Metric::kWithoutHolderMax && metric <= Metric::kWorkOverlapSum) ||
         metric == Metric::kGrantToBeliefMax;
}

enum class Sometimes : uint8_t {
  kTakeover,
  kRelease,
  kStepDown,
  kStaleWriteRefused,
  kLegitimateWriteRefused,
  kNeedlessTakeover,
  kUnknownOutcome,
  kUnknownResolved,
  kAborted,
  kLockWait,
  kCommitWaitOverlap,
  kLateReplyIgnored,
  kClockStopNoticed,
};
constexpr auto WordTableOf(Sometimes) {
  return MakeWordTable<Sometimes>({
      {Sometimes::kTakeover, "takeover"},
      {Sometimes::kRelease, "release"},
      {Sometimes::kStepDown, "step_down"},
      {Sometimes::kStaleWriteRefused, "stale_write_refused"},
      {Sometimes::kLegitimateWriteRefused, "legitimate_write_refused"},
      {Sometimes::kNeedlessTakeover, "needless_takeover"},
      {Sometimes::kUnknownOutcome, "unknown_outcome"},
      {Sometimes::kUnknownResolved, "unknown_resolved"},
      {Sometimes::kAborted, "aborted"},
      {Sometimes::kLockWait, "lock_wait"},
      {Sometimes::kCommitWaitOverlap, "commit_wait_overlap"},
      {Sometimes::kLateReplyIgnored, "late_reply_ignored"},
      {Sometimes::kClockStopNoticed, "clock_stop_noticed"},
  });
}

// Sums over all locks of a run; for the metrics named `_max`, the maximum over all locks.
struct Metrics {
  std::array<int64_t, kCountOf<Metric>> values{};
  std::array<int64_t, kCountOf<Sometimes>> met{};  // how often each happened

  int64_t& operator[](Metric metric) { return values[static_cast<size_t>(metric)]; }
  int64_t operator[](Metric metric) const { return values[static_cast<size_t>(metric)]; }
  int64_t& operator[](Sometimes name) { return met[static_cast<size_t>(name)]; }
  int64_t operator[](Sometimes name) const { return met[static_cast<size_t>(name)]; }
  WHORL_FIELDS(Metrics, values, met);
};

}  // namespace whorl::sim
