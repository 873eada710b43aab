// What was counted, as figures for people: rates, laws that extend them to sizes that nobody
// simulates, and what that is of a Spanner instance.
//
// The two laws, each checked by measurements (DeviationOf) wherever it is used:
//   1. In followers, figures lie on a line: everybody looks at a pace of his own, or all at once.
//   2. In locks, figures are multiples: locks with processes of their own share nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/spanner/fields.h"
#include "sim/measure/cost.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// A measured rate, or one by a law.
struct CostRates {
  // In an hour of steady state.
  double rpcs = 0;
  double reads = 0;
  double transactions = 0;
  double aborted = 0;
  double rows = 0;
  double statements = 0;
  double commits = 0;
  double peak = 0;  // calls in the busiest second of steady state
  // Of a takeover; zero where none was seen. `extra` is beyond what steady state has in that time.
  double extra_rpcs = 0;
  double extra_transactions = 0;
  double takeover_aborted = 0;
  double takeover_peak = 0;  // calls in the busiest second
  double first_second = 0;   // calls in the second after somebody first tries
  WHORL_FIELDS(CostRates, rpcs, reads, transactions, aborted, rows, statements, commits, peak,
               extra_rpcs, extra_transactions, takeover_aborted, takeover_peak, first_second);
};

struct CostFigures {
  CostCase what;
  bool measured = true;  // or by a law
  int64_t runs = 0;
  int64_t takeovers = 0;
  int64_t early_grants = 0;
  CostRates rates;
  WHORL_FIELDS(CostFigures, what, measured, runs, takeovers, early_grants, rates);
};

// REQUIRES: result.runs > 0.
CostFigures FiguresOf(const CostResult& result);

// By the first law, on the line through two cases that differ in followers.
CostFigures WithFollowers(const CostFigures& few, const CostFigures& many, int64_t followers);
// By the second law. A takeover concerns one lock, however many there are, and the busiest second
// is the worst that can be: that all have theirs at once.
CostFigures WithLocks(const CostFigures& one, int64_t locks);

// How far a law is from what was measured: the relative difference of the calls in an hour.
double DeviationOf(const CostFigures& measured, const CostFigures& by_law);

// --- processing units
// -----------------------------------------------------------------------------

// What 1,000 processing units (a node) do at best, and the share of that which Spanner's makers
// advise to use. Each reads or writes single rows of 1 KB, on SSD.
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

// Processing units that are busy with the steady state, each statement being a read (DML looks for
// its row, too) and each Commit a write of one row, whether it changed one or not: at most so many.
double UnitsOf(const CostRates& rates, Preset preset);
// The smallest instance that has so many: 100, 200 and so on, above 1,000 whole nodes.
int64_t InstanceFor(double units);

}  // namespace whorl::sim
