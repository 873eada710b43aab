// Plots the results of `whorl bench takeover`.
#pragma once

#include <string>

#include "cli/bench/takeover_report.h"

namespace whorl::cli {

// An SVG document. Above: for each fault, the distribution of takeover times at the lease nearest to
// ten seconds, with one labelled curve for each protocol. Below: p99 of every case, as a heat map.
std::string TakeoverPlot(const TakeoverReport& report);

}  // namespace whorl::cli
