// Prints the report of a hunt for people.
#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "cli/exit_rules.h"
#include "cli/hunt/report.h"
#include "cli/inputs.h"
#include "cli/junit.h"

namespace whorl::cli {

// The first lines say of each protocol which promises were broken, the last line why the exit code is what it is.
// Findings come in three groups, each below a line that says so: broken promises, what --any or --expect names, and
// what does not decide by `rules`. `command` and `save_folder` are for the lines that replay what was found.
void PrintHunt(const HuntReport& report, const ExitRules& rules, const CommandResult& result,
               const std::string& command, const std::string& save_folder, std::ostream& out);

// Prints the runs of a protocol whose second run differed from the first.
void PrintDiffering(const std::string& protocol, const sim::HuntTally& tally, std::ostream& out);

// `again`: the line that replays it.
void PrintFinding(const HuntReport& report, const NamedFinding& named, const std::string& again,
                  std::ostream& out);

// The hunt as tests: one for each invariant of each protocol, and one for its runs. Of an unfinished hunt, what was not
// found is no pass, which JunitFile::Commit says.
std::vector<JunitTest> JunitTestsOf(const HuntReport& report, const ExitRules& rules,
                                    const std::string& command, const std::string& save_folder);

double SecondsSince(std::chrono::steady_clock::time_point started);

// "12,345 runs in 6.1 s (2,024 a second)".
std::string SpeedText(uint64_t runs, double seconds);

// Prints a table in Markdown: a row for each invariant, a column for each protocol of the hunt. An invariant
// that is not promised counts as broken if the hunt or one of `scenarios` breaks it; the links point to
// `folder`, where these lie.
void PrintHuntTable(const HuntReport& report, const Inputs& scenarios, const std::string& folder,
                    std::ostream& out);

// Prints a table with a row for each goal and a column for each protocol: the first run that met it; "never" if
// none did; "cannot" if none can.
void PrintGoals(const HuntReport& report, std::ostream& out);

}  // namespace whorl::cli
