// Prints what a hunt found of every protocol and invariant, or goal, as a table in Markdown.
#pragma once

#include <ostream>
#include <string>

#include "cli/hunt/report.h"
#include "cli/inputs.h"

namespace whorl::cli {

// A row for each invariant, a column for each protocol of the hunt. What is not promised is broken
// where the hunt or one of `scenarios` breaks it; `folder` is where these lie, for the links.
void PrintHuntTable(const HuntReport& report, const Inputs& scenarios, const std::string& folder,
                    std::ostream& out);

// A row for each goal, a column for each protocol: the first run that met it; "never" if none did; "cannot"
// if none can.
void PrintGoals(const HuntReport& report, std::ostream& out);

}  // namespace whorl::cli
