// What `whorl bench takeover` has measured, as a picture.
#pragma once

#include <string>

#include "cli/bench/takeover_report.h"

namespace whorl::cli {

// An SVG document: for each fault the share of takeovers that are over by a time, a curve for each
// protocol with its name on it, of the lease that is nearest to ten seconds; below, p99 of every
// case as a number in a field of its colour.
std::string TakeoverPlot(const TakeoverReport& report);

}  // namespace whorl::cli
