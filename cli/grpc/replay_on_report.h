// Prints the report of `whorl replay --on`. For people: a line for each scenario, and below it the
// differences from the simulation. For programs: everything.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "live/comparison.h"
#include "sim/report/json_print.h"

namespace whorl::cli {

// All runs of one scenario.
struct Compared {
  const sim::Scenario* scenario = nullptr;  // what live::AsOn() returned
  std::string changes;                      // what AsOn() changed, for people
  live::Simulated simulated;
  std::vector<live::RealRun> runs;
  // What a replay of the file says that is neither real nor changed by AsOn().
  std::vector<Invariant> violated_in_plain;
  bool plain_as_expected = true;

  size_t agreed() const;
  size_t as_expected() const;
  bool good() const { return agreed() == runs.size() && as_expected() == runs.size(); }
};

class ReplayOnReport {
 public:
  ReplayOnReport(std::ostream& out, live::BackendKind kind, size_t name_width)
      : out_(out), kind_(kind), name_width_(name_width) {}
  void PrintHead();
  void Print(const Compared& compared);
  void PrintSkipped(const sim::Scenario& scenario, const std::string& why);
  void PrintSummary(const std::vector<Compared>& compared, size_t skipped);

 private:
  std::ostream& out_;
  live::BackendKind kind_;
  size_t name_width_;
};

sim::Json ComparedJson(const Compared& compared);

}  // namespace whorl::cli
