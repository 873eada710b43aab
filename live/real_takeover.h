// Takeovers for real, beside the simulated ones: the worlds of `whorl bench takeover`, run on real
// processes.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "live/backend.h"
#include "sim/measure/takeover_bench.h"
#include "sim/measure/takeover_case.h"

namespace whorl::live {

struct TakeoverPlan {
  BackendKind on = BackendKind::kServer;
  uint64_t seed = 1;
  uint64_t runs = 20;          // for real, of each case
  uint64_t simulated = 1'000;  // beside them
  int jobs = 1;                // runs at the same time, each with a Spanner of its own
};

// One case, measured twice. Times count from the fault, in nanoseconds.
struct ComparedTakeovers {
  sim::TakeoverResult real;
  sim::TakeoverResult simulated;
  int64_t with_holes = 0;                  // real runs of which not all was seen; not counted
  std::vector<int64_t> real_first_writes;  // in the order of the runs
  std::vector<int64_t> real_grants;
};

// Why the case cannot be run on real processes; empty when it can.
std::string WhyNotForReal(const sim::TakeoverCase& takeover_case);

// `progress` hears after each real run, on the caller's thread.
// kUnavailable: a run could not be run, and why.
absl::StatusOr<ComparedTakeovers> CompareTakeovers(
    const TakeoverPlan& plan, const sim::TakeoverCase& takeover_case,
    const std::function<void(uint64_t runs)>& progress);

// How many of the values lie between what 5 and what 95 percent of the distribution do not exceed.
int64_t CountInMiddle(const std::vector<int64_t>& values, const sim::Distribution& distribution);

}  // namespace whorl::live
