// Compares what leases of different lengths cost with what they give: calls to Spanner against the
// time that a takeover takes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"
#include "sim/judge/batch.h"
#include "sim/measure/cost_report.h"

namespace whorl::sim {

struct Tradeoff {
  std::string protocol;
  Duration lease;
  int64_t followers = 0;
  double transactions = 0;  // read-write transactions per hour
  double rpcs = 0;          // per hour
  // From the crash of the leader to the first write of the next one, as `whorl bench takeover`
  // measures it; nothing if it was not measured.
  std::optional<Duration> takeover_p50;
  std::optional<Duration> takeover_p99;
  // T* of the same takeovers, the least possible time.
  std::optional<Duration> least_p50;
  std::optional<Duration> least_p99;
};

// By protocol and lease, with the usual number of followers. Takeovers are not measured yet.
std::vector<Tradeoff> TradeoffsOf(const CostReport& report);

// Measures the takeovers of each tradeoff by `runs` crashes. Calls `go_on` after each crash, on the
// caller's thread; a tradeoff that was not measured completely stays as it was.
// kInternal: a run failed to run; the message says which.
absl::Status MeasureTakeovers(const CostOptions& options, uint64_t runs, int threads,
                              const std::function<BatchStep()>& go_on,
                              std::vector<Tradeoff>& tradeoffs);

}  // namespace whorl::sim
