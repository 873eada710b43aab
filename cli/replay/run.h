// Runs one scenario for `whorl replay`, with the listeners that the options ask for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "cli/output.h"
#include "sim/judge/run.h"
#include "sim/measure/decision.h"
#include "sim/report/determinism.h"
#include "sim/report/explain.h"
#include "sim/report/timeline.h"
#include "sim/scenario/scenario.h"

namespace whorl::cli {

struct RunRequest {
  const sim::Scenario* scenario = nullptr;
  uint64_t seed = 0;
  std::string trace_path;     // empty: no trace
  std::string perfetto_path;  // empty: no file
  std::string html_path;      // empty: no page
  std::string jepsen_path;    // empty: no history
  std::string page_command;   // that makes the run again, for its page
  bool timeline = false;
  bool mermaid = false;
  bool explain = false;
  std::optional<Invariant> explained;  // empty: whichever was violated first
  bool check_determinism = false;      // runs it a second time, and compares
  bool decides = false;                // with `explain`: says when the violation was decided, too
  int threads = 1;                     // for continuations of the run
  bool unlimited = false;              // even if it takes more than a billion events
  Progress* progress = nullptr;        // not null: shows how far the run is
};

struct RunOutcome {
  std::string refused;  // not empty: why it was not run to its end; there is no result
  sim::RunResult result;
  double wall_seconds = 0;  // what the first run took, listeners included
  absl::Status written;     // an error if a trace or another file could not be written
  std::unique_ptr<sim::Timeline> timeline;
  std::string mermaid;  // the diagram
  std::optional<sim::Story> story;
  std::optional<sim::Decision> decision;      // of the violation that the story explains
  std::string needed_faults;                  // likewise: which faults made it possible, as a line
  std::optional<sim::Difference> difference;  // between the two runs
};

RunOutcome RunOnce(const RunRequest& request);

// Runs the scenario with its own seed, and writes its page. REQUIRES: PagesMissing() is ok.
absl::Status WritePageOf(const sim::Scenario& scenario, const std::string& command,
                         const std::string& path, int threads);

}  // namespace whorl::cli
