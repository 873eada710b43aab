// Reports of `whorl bench cost`, for people and for programs.
//
// Invariant: the same report gives the same bytes, from every compiler: figures are rounded by
// whole numbers, never by a library's way of printing floating point.
#pragma once

#include <ostream>
#include <vector>

#include "sim/measure/cost_report.h"
#include "sim/measure/cost_tradeoff.h"

namespace whorl::cli {

// Tables, and what they rest on.
void PrintCost(const sim::CostReport& report, const std::vector<sim::Tradeoff>& tradeoffs,
               bool markdown, std::ostream& out);

// One JSON object to a line: {"cost": "options"}, then "steady", "herd", "locks", "tradeoff",
// "law" and "left_out". Rates are numbers of calls (transactions and so on) in an hour.
void PrintCostLines(const sim::CostReport& report, const std::vector<sim::Tradeoff>& tradeoffs,
                    std::ostream& out);

// A head, then every figure of the first three tables, a case to a line.
void PrintCostCsv(const sim::CostReport& report, std::ostream& out);

}  // namespace whorl::cli
