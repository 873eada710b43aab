// What `whorl bench takeover` has measured, as a table for people, as JSON lines and as CSV.
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
  bool interrupted = false;  // there are cases that were not measured at all
};

// A table of all results, with what it means below.
void PrintTakeovers(const TakeoverReport& report, std::ostream& out);

// One line for each result: times in nanoseconds (_ns), ratios as they are; null where there is no
// such value.
std::string TakeoverLines(const TakeoverReport& report);

// The same figures, one row for each result.
std::string TakeoverCsv(const TakeoverReport& report);

}  // namespace whorl::cli
