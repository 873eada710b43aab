// Turns counts into figures for people: rates, two laws that extend them to sizes too large to
// simulate, and the share of a Spanner instance that they need.
//
// The laws, each checked against measurements (DeviationOf) wherever it is used:
//   1. Figures are linear in the number of followers: each follower looks at its own pace, or all
//      at once.
//   2. Figures are proportional to the number of locks: locks with their own processes share
//      nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/spanner/fields.h"
#include "sim/measure/cost.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// Rates, measured or computed by a law.
struct CostRates {
  // Per hour of steady state:
  double rpcs = 0;
  double reads = 0;
  double transactions = 0;
  double aborted = 0;
  double rows = 0;
  double statements = 0;
  double commits = 0;
  double peak = 0;  // calls in the busiest second of steady state
  // Per takeover; zero if there was none. `extra` is in excess of the steady state in that time.
  double extra_rpcs = 0;
  double extra_transactions = 0;
  double takeover_aborted = 0;
  double takeover_peak = 0;  // calls in the busiest second
  double first_second = 0;   // calls in the second after the first attempt to take over
  WHORL_FIELDS(CostRates, rpcs, reads, transactions, aborted, rows, statements, commits, peak,
               extra_rpcs, extra_transactions, takeover_aborted, takeover_peak, first_second);
};

struct CostFigures {
  CostCase what;
  bool measured = true;  // false: computed by a law
  int64_t runs = 0;
  int64_t takeovers = 0;
  int64_t early_grants = 0;
  CostRates rates;
  WHORL_FIELDS(CostFigures, what, measured, runs, takeovers, early_grants, rates);
};

// REQUIRES: result.runs > 0.
CostFigures FiguresOf(const CostResult& result);

// Computes figures by the first law, from two cases that differ in followers.
CostFigures WithFollowers(const CostFigures& few, const CostFigures& many, int64_t followers);
// Computes figures by the second law. A takeover concerns one lock, however many there are. The
// busiest second is the worst case: all locks have theirs at once.
CostFigures WithLocks(const CostFigures& one, int64_t locks);

// How far a law is from a measurement: the relative difference of the calls per hour.
double DeviationOf(const CostFigures& measured, const CostFigures& by_law);

// --- processing units --------------------------------------------------------------------------

// The throughput of 1,000 processing units (a node) at best, and the share of it that Google
// advises to use. Each operation reads or writes one row of 1 KB, on SSD.
struct Throughput {
  double reads_per_second = 0;
  double writes_per_second = 0;
  double cpu_share = 0;
};
inline constexpr std::string_view kThroughputSource =
    "https://cloud.google.com/spanner/docs/performance";
inline constexpr std::string_view kCpuShareSource =
    "https://cloud.google.com/spanner/docs/cpu-utilization";
constexpr Throughput ThroughputOf(Preset preset) {
  if (preset == Preset::kRegional) return {22'500, 3'500, 0.65};
  return {15'000, 2'700, 0.45};
}

// An upper bound of the processing units that the steady state needs: each statement counts as a
// read (DML reads its row, too), and each Commit as a write of one row, even if it changed none.
double UnitsOf(const CostRates& rates, Preset preset);
// The smallest instance with that many units: 100, 200 and so on; above 1,000, whole nodes.
int64_t InstanceFor(double units);

}  // namespace whorl::sim
