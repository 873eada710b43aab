// Writes the pages of `whorl bench takeover --html` and `whorl bench cost --html`.
#pragma once

#include <string>
#include <vector>

#include "cli/bench/takeover_report.h"
#include "sim/measure/cost_report.h"
#include "sim/measure/cost_tradeoff.h"

namespace whorl::cli {

// REQUIRES of both: PagesMissing() is ok.

// The distributions of the times of takeovers, beside T*.
std::string TakeoverPage(const TakeoverReport& report);

// What leases of different lengths cost, against the takeovers that they give.
std::string CostPage(const sim::CostReport& report, const std::vector<sim::Tradeoff>& tradeoffs);

}  // namespace whorl::cli
