// Prints the report of `whorl replay` for people: a table with a line for each scenario, its failures under
// that line, and a summary.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

#include "cli/junit.h"
#include "cli/replay/options.h"
#include "cli/replay/tally.h"
#include "sim/scenario/scenario.h"

namespace whorl::cli {

// The number of scenarios for each conclusion.
struct Summary {
  size_t as_expected = 0;
  size_t failed = 0;
  size_t not_judged = 0;
  size_t bad_inputs = 0;
  size_t break_a_promise = 0;  // scenarios, whatever they expect

  void Add(const Tally& tally);
  size_t scenarios() const { return as_expected + failed + not_judged; }
};

class ReplayTable {
 public:
  struct Style {
    size_t width = 0;       // of the terminal; 0: there is none, and lines may have any length
    size_t name_width = 0;  // the length of the longest name of a scenario
    bool colour = false;
    bool details = false;  // every scenario says what is known of its violations, not only failures
  };
  // `command` is how to call this command again.
  ReplayTable(std::ostream& out, const Style& style, std::string command);

  void PrintHead();
  void PrintTally(const Tally& tally);
  // `missing`: what of a whole is not there; empty if nothing is.
  void PrintSummary(const Summary& summary, std::string_view missing);

 private:
  void PrintKnown(const Tally& tally);
  void PrintFailures(const Tally& tally);

  std::ostream& out_;
  size_t width_;
  size_t name_width_;
  int figures_;  // that fit: see dispensable
  std::string command_;
  bool colour_;
  bool details_;
};

// "whorl replay x.json --seed 7": runs one seed of a scenario again.
std::string ReplayCommand(const std::string& command, const sim::Scenario& scenario, uint64_t seed);

// The scenario as a test. `command` is how to call this command again.
JunitTest JunitTestOf(const Tally& tally, const std::string& command);

// `whorl replay --at`: prints the state of one run at one time. Returns the exit code. REQUIRES: request.at is a time of the scenario.
int ShowState(const ReplayRequest& request, const sim::Scenario& scenario);

}  // namespace whorl::cli
