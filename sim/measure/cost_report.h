// All that `whorl bench cost` measures: which cases, and what came of them.
//
// Invariant: a report is a function of its options, whatever the number of threads; one that was
// interrupted has the runs that were done by then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sim/judge/batch.h"
#include "sim/measure/cost.h"
#include "sim/measure/cost_figures.h"

namespace whorl::sim {

struct CostOptions {
  std::vector<std::string> protocols;  // of Protocols(), in its order
  std::vector<Duration> leases = {Seconds(1), Seconds(5), Seconds(10), Seconds(30)};
  std::vector<int64_t> followers = {1, 2, 10, 100};
  std::vector<int64_t> herd = {10, 100, 1'000, 10'000};  // followers of one lock
  std::vector<int64_t> locks = {1, 10, 100, 1'000, 10'000, 100'000};
  // Herds and numbers of locks up to here are simulated; what is beyond is by the laws.
  int64_t largest = 1'000;
  Preset preset = Preset::kRegional;
  uint64_t seed = 1;
  int64_t runs = 8;  // of small cases
  WHORL_FIELDS(CostOptions, protocols, leases, followers, herd, locks, largest, preset, seed, runs);

  // Herds and locks are measured with one lease, and locks with one number of followers: 10 s and 2
  // where these are among those asked for, otherwise the first.
  Duration UsualLease() const;
  int64_t UsualFollowers() const;
};

// What was predicted by a law where it was measured, too.
struct LawCheck {
  std::string protocol;
  int64_t size = 0;      // followers, or locks
  double deviation = 0;  // relative, of the calls in an hour
  WHORL_FIELDS(LawCheck, protocol, size, deviation);
};

struct LeftOutCost {
  CostCase what;
  std::string why;  // continues a sentence that begins with the protocol's name
  WHORL_FIELDS(LeftOutCost, what, why);
};

struct CostReport {
  CostOptions options;
  bool interrupted = false;
  std::vector<CostFigures> steady;  // one lock, by protocol, lease and followers
  std::vector<CostFigures> herd;    // one lock, by protocol and followers
  std::vector<LawCheck> herd_checks;
  std::vector<CostFigures> locks;  // by protocol and locks
  std::vector<LawCheck> lock_checks;
  std::vector<LeftOutCost> left_out;
};

// Cases that cannot be measured are left out. `go_on` as in MeasureCosts.
// kInvalidArgument: nothing can be measured, and why. kInternal: a run could not be run.
absl::Status MeasureCostReport(const CostOptions& options, int threads,
                               const std::function<BatchStep(size_t done, size_t all)>& go_on,
                               CostReport& report);

}  // namespace whorl::sim
