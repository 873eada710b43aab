// `whorl hunt --compare A B`: runs the same worlds for two protocols and reports how they differ.
#pragma once

#include <array>
#include <cstdint>
#include <ostream>
#include <string>

#include "cli/hunt/options.h"
#include "cli/hunt/report.h"
#include "sim/hunt/compare.h"

namespace whorl::cli {

// Returns the exit code. REQUIRES: the request has two protocols to compare.
int Compare(const HuntRequest& request);

// The report of a comparison, as text and as JSON lines:
//   {"format":"whorl-compare","version":1,"line":"protocols","protocols":["A","B"],...}
//   {"format":"whorl-compare","version":1,"line":"invariant","invariant":"no_wedge",...}   for each
//   {"format":"whorl-compare","version":1,"line":"figure","figure":"first_takeover",...}   for each
//   {"format":"whorl-compare","version":1,"line":"finding","protocol":"B",...}             for each
//   {"format":"whorl-compare","version":1,"line":"end",...}
// Invariant: the same comparison gives the same bytes with every compiler.

inline constexpr int kCompareFormat = 1;

struct ComparisonReport {
  sim::ProtocolComparison comparison;
  uint64_t asked = 0;  // how many worlds; 0: time was to end it
  // Of each side the findings that are told: the smallest one of each invariant that this side alone
  // breaks, and of each that it promises and breaks.
  std::array<HuntReport, sim::kSides> told;
};

ComparisonReport MakeComparisonReport(sim::ProtocolComparison comparison, uint64_t asked);

// Whether the second breaks an invariant that the first keeps, or a promise of its own; or a run could
// not be repeated.
bool SecondIsWorse(const ComparisonReport& report);

// `command` and `save_folder` are for the lines that replay what was found.
void PrintComparison(const ComparisonReport& report, const std::string& command,
                     const std::string& save_folder, std::ostream& out);
std::string ComparisonLines(const ComparisonReport& report, const std::string& command,
                            const std::string& save_folder);

}  // namespace whorl::cli
