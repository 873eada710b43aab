// Measures cases by many runs each, until their p99 is known well enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "sim/judge/batch.h"
#include "sim/measure/statistics.h"
#include "sim/measure/takeover_case.h"
#include "sim/measure/takeover_observer.h"

namespace whorl::sim {

// Runs are added until the 95 % intervals of p99, of times and of ratios, are within this much of
// it.
inline constexpr int64_t kStablePercent = 2;
// How many runs there are before the first check, and at most. Runs of deployments take a hundred
// times as long as others, and have several takeovers each.
struct RunCounts {
  uint64_t at_first = 500;
  uint64_t at_most = 8'000;
};
RunCounts RunCountsOf(TakeoverFault fault);

struct TakeoverOptions {
  uint64_t seed = 1;
  // The number of runs of each case; nothing: as RunCountsOf says.
  std::optional<uint64_t> runs;
  WHORL_FIELDS(TakeoverOptions, seed, runs);
};

// The result of one case. Times are in nanoseconds.
struct TakeoverResult {
  TakeoverCase measured;
  MedianTimes times;
  uint64_t runs = 0;
  bool stable = false;         // p99 is within kStablePercent
  bool interrupted = false;    // stopped before all runs were done
  int64_t kept = 0;            // runs in which the old leader kept the lock
  int64_t spoilt = 0;          // runs that do not count: the leader changed before the fault
  int64_t believed_still = 0;  // takeovers whose first write came while the old leader believed
  Distribution least;          // T*
  Distribution first_write;    // from the fault to the first write's arrival
  Distribution grant;          // from the fault to when the grant is visible
  Distribution above_least;    // first_write - T*
  Distribution ratio;          // first_write / T* in millionths; without values if T* is 0
  Distribution grant_ratio;    // grant / T*, likewise
  Distribution since_lapse;    // from the lapse of the old leader's belief to the first write
  // Takeovers from a leader that should have kept the lock.
  int64_t NeedlessTakeovers() const {
    return ShouldKeep(measured.fault) ? first_write.count + first_write.missing : 0;
  }
  WHORL_FIELDS(TakeoverResult, measured, times, runs, stable, interrupted, kept, spoilt,
               believed_still, least, first_write, grant, above_least, ratio, grant_ratio,
               since_lapse);
};

// Measures one case on `threads` threads; the result does not depend on how many. Calls `go_on`
// after each run, on the caller's thread; if it says stop, `interrupted` is set.
// kInternal: a run failed to run; the message says which.
absl::Status MeasureCase(const TakeoverOptions& options, const TakeoverCase& takeover_case,
                         int threads, const std::function<BatchStep(uint64_t runs)>& go_on,
                         TakeoverResult& result);

// The result of a case after these runs.
TakeoverResult ResultOf(const TakeoverCase& takeover_case, MedianTimes times,
                        const std::vector<TakeoverRun>& runs);

}  // namespace whorl::sim
