// What a lease buys and what it costs: how long a takeover takes against how often Spanner is
// asked.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "protocol/spanner/time.h"
#include "sim/judge/batch.h"
#include "sim/measure/cost_report.h"

namespace whorl::sim {

struct Tradeoff {
  std::string protocol;
  Duration lease;
  int64_t followers = 0;
  double transactions = 0;  // read-write, in an hour
  double rpcs = 0;          // in an hour
  // From the crash of the leader to the first write of the next one, as `whorl bench takeover`
  // measures it; nothing where that was not done.
  std::optional<Duration> takeover_p50;
  std::optional<Duration> takeover_p99;
};

// By protocol and lease, with the usual number of followers. Takeovers are still to be measured.
std::vector<Tradeoff> TradeoffsOf(const CostReport& report);

// Measures them by so many crashes of each. `go_on` is asked after each crash, on the caller's
// thread; one that was not measured whole is left as it was.
// kInternal: a run could not be run, and which.
absl::Status MeasureTakeovers(const CostOptions& options, uint64_t runs, int threads,
                              const std::function<BatchStep()>& go_on,
                              std::vector<Tradeoff>& tradeoffs);

}  // namespace whorl::sim
