// One run for `whorl replay`, with whatever listens to it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "sim/judge/run.h"
#include "sim/report/determinism.h"
#include "sim/report/explain.h"
#include "sim/report/timeline.h"
#include "sim/scenario/scenario.h"

namespace whorl::cli {

struct RunRequest {
  const sim::Scenario* scenario = nullptr;
  uint64_t seed = 0;
  std::string trace_path;     // empty: no trace
  std::string perfetto_path;  // empty: none
  bool timeline = false;
  bool explain = false;
  std::optional<Invariant> explained;  // this one rather than whatever came first
  bool check_determinism = false;      // run it a second time, and compare
};

struct RunOutcome {
  sim::RunResult result;
  double wall_seconds = 0;  // of the first run, listeners included
  absl::Status written;     // of the trace and the like
  std::unique_ptr<sim::Timeline> timeline;
  std::optional<sim::Story> story;
  std::optional<sim::Difference> difference;  // between the two runs
};

RunOutcome RunOnce(const RunRequest& request);

}  // namespace whorl::cli
