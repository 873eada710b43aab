// Reports of `whorl bench cost`, for people and for programs.
//
// Invariant: the same report gives the same bytes with every compiler. Figures are rounded by integer
// arithmetic, never by a library that prints floating point.
#pragma once

#include <ostream>
#include <vector>

#include "sim/measure/cost_report.h"
#include "sim/measure/cost_tradeoff.h"

namespace whorl::cli {

// Prints the tables, and the assumptions behind them.
void PrintCost(const sim::CostReport& report, const std::vector<sim::Tradeoff>& tradeoffs,
               bool markdown, std::ostream& out);

// Prints one JSON object per line: {"cost": "options"}, then "steady", "herd", "locks", "tradeoff",
// "law" and "left_out". Rates are numbers of calls (transactions and so on) per hour.
void PrintCostLines(const sim::CostReport& report, const std::vector<sim::Tradeoff>& tradeoffs,
                    std::ostream& out);

// Prints a header, then every figure of the first three tables, one line per case.
void PrintCostCsv(const sim::CostReport& report, std::ostream& out);

}  // namespace whorl::cli
