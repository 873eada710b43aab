// Prints the results of `whorl bench takeover` as a table for people, as JSON lines and as CSV.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "sim/measure/takeover_bench.h"
#include "sim/measure/takeover_case.h"

namespace whorl::cli {

inline constexpr int kTakeoverFormat = 1;

struct TakeoverReport {
  sim::TakeoverOptions options;
  std::vector<sim::TakeoverResult> results;
  std::vector<sim::LeftOut> left_out;
  bool interrupted = false;  // some cases were not measured
};

// Prints a table of all results and, below it, what it means.
void PrintTakeovers(const TakeoverReport& report, std::ostream& out);

// One JSON object per result and line: times in nanoseconds (_ns), ratios as numbers; null if there
// is no such value.
std::string TakeoverLines(const TakeoverReport& report);

// The same figures, one row for each result.
std::string TakeoverCsv(const TakeoverReport& report);

}  // namespace whorl::cli
