// Runs the worlds of `whorl bench takeover` on real processes and compares the takeovers with
// simulated ones.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "live/backend.h"
#include "sim/measure/takeover_bench.h"
#include "sim/measure/takeover_case.h"

namespace whorl::live {

struct TakeoverPlan {
  BackendKind on = BackendKind::kServer;
  uint64_t seed = 1;
  uint64_t runs = 20;          // real runs of each case
  uint64_t simulated = 1'000;  // simulated runs of each case
  int jobs = 1;                // real runs at the same time, each with its own Spanner
  std::string program;         // that takes part in the lock for the processes; empty: none
};

// One case, measured on real processes and in simulation. Times count from the fault, in nanoseconds.
struct ComparedTakeovers {
  sim::TakeoverResult real;
  sim::TakeoverResult simulated;
  int64_t with_holes = 0;                  // real runs whose history has holes; not counted
  std::vector<int64_t> real_first_writes;  // in the order of the runs
  std::vector<int64_t> real_grants;
};

// Why the case cannot be run on real processes; empty if it can.
std::string WhyNotForReal(const sim::TakeoverCase& takeover_case);

// Calls `progress` after each real run, on the caller's thread.
// kUnavailable if a run was not possible; the message says why.
absl::StatusOr<ComparedTakeovers> CompareTakeovers(
    const TakeoverPlan& plan, const sim::TakeoverCase& takeover_case,
    const std::function<void(uint64_t runs)>& progress);

// The number of values between the 5th and the 95th percentile of the distribution.
int64_t CountInMiddle(const std::vector<int64_t>& values, const sim::Distribution& distribution);

}  // namespace whorl::live
