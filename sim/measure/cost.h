// Measures what a lock costs: the calls to Spanner in worlds in which one process holds the lock
// and others follow, and then the holder crashes.
//
// Invariants:
//   1. A run is a function of its case, the seed and its number; other cases and threads change
//      nothing.
//   2. Every reported figure is a number of calls in a stated time, or computed from such numbers;
//      none depends on the machine's speed.
// Deliberately left out: the price in money, and the cost of an application's own questions and
// writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "protocol/protocols.h"
#include "protocol/spanner/fields.h"
#include "sim/judge/batch.h"
#include "sim/measure/call_counter.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// The protocol, the lease, and how many processes take part.
struct CostCase {
  std::string protocol;
  Duration lease;
  int64_t followers = 2;  // besides the leader
  int64_t locks = 1;      // each with a leader and followers of its own
  Preset preset = Preset::kRegional;
  WHORL_FIELDS(CostCase, protocol, lease, followers, locks, preset);
};

// One run of a case.
struct CostRun {
  Duration window;  // length of the steady state
  CallCounts steady;
  int64_t steady_peak = 0;   // calls in its busiest second
  int64_t early_grants = 0;  // takeovers from a healthy leader, in or before the window
  bool was_taken_over = false;
  Duration takeover_time;  // from the crash until one lease after the grant
  CallCounts takeover;     // in that time
  int64_t takeover_peak = 0;
  int64_t first_second = 0;  // calls in the second that begins with the first attempt to take over
  WHORL_FIELDS(CostRun, window, steady, steady_peak, early_grants, was_taken_over, takeover_time,
               takeover, takeover_peak, first_second);
};

// The most processes or locks in a world, which numbers them by 16-bit integers.
inline constexpr int64_t kCostPartsMax = 30'000;

// Why the case cannot be measured, as the rest of a sentence that begins with the protocol's name;
// empty if it can be.
std::string WhyNoCost(const CostCase& what);

// The world of a run. All locks are in steady state in [from, until); then node 0, the leader of
// the first lock, crashes.
struct CostWorld {
  Scenario scenario;
  Instant from;
  Instant until;
  Instant crash;
};

// REQUIRES: WhyNoCost(what) is empty.
CostWorld MakeCostWorld(const CostCase& what, uint64_t seed, uint64_t run);
CostRun RunCostCase(const CostCase& what, uint64_t seed, uint64_t run);

// All runs of a case, added up.
struct CostResult {
  CostCase what;
  int64_t runs = 0;
  Duration window;
  CallCounts steady;
  int64_t steady_peak = 0;  // maximum of all runs
  int64_t early_grants = 0;
  int64_t takeovers = 0;  // runs with a takeover; the following fields cover only these
  Duration takeover_time;
  CallCounts takeover;
  int64_t takeover_peak = 0;  // maximum
  int64_t first_second = 0;   // maximum
  WHORL_FIELDS(CostResult, what, runs, window, steady, steady_peak, early_grants, takeovers,
               takeover_time, takeover, takeover_peak, first_second);

  void Add(const CostRun& run);
  // `count` of the steady state as a rate. REQUIRES: runs > 0.
  double PerHour(int64_t count) const;
  // The calls of a takeover in excess of the steady state in the same time. May be negative, since
  // no process renews a lease that runs out. REQUIRES: takeovers > 0.
  double ExtraPerTakeover(int64_t CallCounts::* count) const;
};

// How many runs a case gets if small cases get `runs`: large ones get fewer.
int64_t RunsOfCase(const CostCase& what, int64_t runs);

// Runs all cases on `threads` threads; results are in the order of the cases. Calls `go_on` after
// each run, on the caller's thread. If it says stop, each result has the runs that were done, and
// cases without any run have no result.
// kInternal: a run failed to run; the message says which.
absl::Status MeasureCosts(std::span<const CostCase> cases, int64_t runs, uint64_t seed, int threads,
                          const std::function<BatchStep(size_t done, size_t all)>& go_on,
                          std::vector<CostResult>& results);

}  // namespace whorl::sim
