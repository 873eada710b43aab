// The report of a hunt for people.
#pragma once

#include <ostream>
#include <string>

#include "cli/exit_rules.h"
#include "cli/hunt/report.h"

namespace whorl::cli {

// `command` and `save_folder` are for the lines that replay what was found.
// Findings that do not decide by `rules` come last, below a line that says so.
void PrintHunt(const HuntReport& report, const ExitRules& rules, const std::string& command,
               const std::string& save_folder, std::ostream& out);

// The runs of a protocol that came out otherwise the second time.
void PrintDiffering(const std::string& protocol, const sim::HuntTally& tally, std::ostream& out);

void PrintFinding(const HuntReport& report, const NamedFinding& named, const std::string& command,
                  const std::string& save_folder, std::ostream& out);

}  // namespace whorl::cli
