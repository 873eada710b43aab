// The report of `whorl replay` for people: a table with a line for each scenario, what failed under
// its line, and a summary.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>

#include "cli/replay/tally.h"

namespace whorl::cli {

// The number of scenarios for each conclusion.
struct Summary {
  size_t as_expected = 0;
  size_t failed = 0;
  size_t not_judged = 0;
  size_t bad_inputs = 0;

  void Add(Conclusion conclusion);
  size_t scenarios() const { return as_expected + failed + not_judged; }
};

class ReplayTable {
 public:
  // `name_width` is the length of the longest name of a scenario; `command` is how to call this command
  // again.
  // With `details` each scenario says what is known of its violations, not only those that fail.
  ReplayTable(std::ostream& out, size_t name_width, std::string command, bool colour, bool details)
      : out_(out),
        name_width_(name_width),
        command_(std::move(command)),
        colour_(colour),
        details_(details) {}

  void PrintHead();
  void PrintTally(const Tally& tally);
  void PrintSummary(const Summary& summary);

 private:
  void PrintKnown(const Tally& tally);
  void PrintFailures(const Tally& tally);

  std::ostream& out_;
  size_t name_width_;
  std::string command_;
  bool colour_;
  bool details_;
};

// "whorl replay x.json --seed 7": runs one seed of a scenario again.
std::string ReplayCommand(const std::string& command, const sim::Scenario& scenario, uint64_t seed);

}  // namespace whorl::cli
