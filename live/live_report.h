// The report of `whorl replay --on`: for people, a line for each scenario and where it parts from
// the simulation under it; for machines, everything.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "live/comparison.h"
#include "sim/report/json_print.h"

namespace whorl::live {

// All runs of one scenario.
struct Compared {
  const sim::Scenario* scenario = nullptr;  // as it is on the backend
  std::string changes;                      // of the scenario by the backend, for people
  Simulated simulated;
  std::vector<RealRun> runs;

  size_t agreed() const;
  size_t as_expected() const;
  bool good() const { return agreed() == runs.size() && as_expected() == runs.size(); }
};

class LiveReport {
 public:
  LiveReport(std::ostream& out, BackendKind kind, size_t name_width)
      : out_(out), kind_(kind), name_width_(name_width) {}
  void PrintHead();
  void Print(const Compared& compared);
  void PrintSkipped(const sim::Scenario& scenario, const std::string& why);
  void PrintSummary(size_t scenarios, size_t good, size_t skipped);

 private:
  std::ostream& out_;
  BackendKind kind_;
  size_t name_width_;
};

sim::Json ComparedJson(const Compared& compared);

}  // namespace whorl::live
