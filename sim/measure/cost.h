// What a lock costs: worlds in which one process holds it, others follow, and then the holder
// crashes; how much is asked of Spanner meanwhile.
//
// Invariants:
//   1. A run is a function of its case, the seed and its number, whoever runs it and beside what.
//   2. Everything that is reported is a count of calls in a stated time, or arithmetic of such
//      counts; nothing depends on the machine's speed.
// Deliberately left out: the price in money, and what an application's own questions and writes
// cost.
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

// Which lock, kept by whom.
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
  Duration window;  // of steady state
  CallCounts steady;
  int64_t steady_peak = 0;   // calls in its busiest second
  int64_t early_grants = 0;  // takeovers from a leader in good health, in or before the window
  bool was_taken_over = false;
  Duration takeover_time;  // from the crash until one lease after the grant
  CallCounts takeover;     // in that time
  int64_t takeover_peak = 0;
  int64_t first_second = 0;  // calls in the second that begins when somebody first tries
  WHORL_FIELDS(CostRun, window, steady, steady_peak, early_grants, was_taken_over, takeover_time,
               takeover, takeover_peak, first_second);
};

// A world names processes and locks by small numbers.
inline constexpr int64_t kCostPartsMax = 30'000;

// Why the case cannot be measured, as the rest of a sentence that begins with the protocol's name;
// empty when it can.
std::string WhyNoCost(const CostCase& what);

// The world of a run. Steady state is from `from` to `until`, of all locks together; the crash is
// of the first lock's leader, node 0.
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
  int64_t steady_peak = 0;  // the greatest of all runs
  int64_t early_grants = 0;
  int64_t takeovers = 0;  // runs in which it was taken over; the following are of these alone
  Duration takeover_time;
  CallCounts takeover;
  int64_t takeover_peak = 0;  // the greatest
  int64_t first_second = 0;   // the greatest
  WHORL_FIELDS(CostResult, what, runs, window, steady, steady_peak, early_grants, takeovers,
               takeover_time, takeover, takeover_peak, first_second);

  void Add(const CostRun& run);
  // Of steady state. REQUIRES: runs > 0.
  double PerHour(int64_t count) const;
  // Of a takeover, beyond what steady state would have had in the same time; it may be less than
  // nothing, since nobody renews a lease that runs out. REQUIRES: takeovers > 0.
  double ExtraPerTakeover(int64_t CallCounts::* count) const;
};

// How many runs a case gets where small ones get `runs`: fewer where it is large.
int64_t RunsOfCase(const CostCase& what, int64_t runs);

// Runs all cases on `threads` threads; results come in the order of the cases. `go_on` is asked
// after each run, on the caller's thread. When it says stop, a case has the runs that were done,
// and those without any are left out.
// kInternal: a run could not be run at all, and which.
absl::Status MeasureCosts(std::span<const CostCase> cases, int64_t runs, uint64_t seed, int threads,
                          const std::function<BatchStep(size_t done, size_t all)>& go_on,
                          std::vector<CostResult>& results);

}  // namespace whorl::sim
