// What a lease buys and what it costs: how long a takeover takes against how often Spanner is
// asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/spanner/time.h"
#include "sim/bench/cost_report.h"

namespace whorl::sim {

struct Tradeoff {
  std::string protocol;
  Duration lease;
  int64_t followers = 0;
  double transactions = 0;  // read-write, in an hour
  double rpcs = 0;          // in an hour
  // From the crash of the leader to the first write of the next one; nothing while nobody has
  // measured it.
  std::optional<Duration> takeover_p50;
  std::optional<Duration> takeover_p99;
};

// By protocol and lease, with the usual number of followers. Takeovers are still to be measured.
std::vector<Tradeoff> TradeoffsOf(const CostReport& report);

}  // namespace whorl::sim
