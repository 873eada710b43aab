// Reports `whorl bench cost`: which cases it measures, and their results.
//
// Invariant: a report is a function of its options, whatever the number of threads. An interrupted
// report has the runs that were done by then.
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
  std::vector<std::string> protocols;  // names from Protocols(), in its order
  std::vector<Duration> leases = {Seconds(1), Seconds(5), Seconds(10), Seconds(30)};
  std::vector<int64_t> followers = {1, 2, 10, 100};
  std::vector<int64_t> herd = {10, 100, 1'000, 10'000};  // followers of one lock
  std::vector<int64_t> locks = {1, 10, 100, 1'000, 10'000, 100'000};
  // Herds and numbers of locks up to this are simulated; larger ones, and several locks with other leases than
  // UsualLease(), are computed by the laws.
  int64_t largest = 1'000;
  Preset preset = Preset::kRegional;
  uint64_t seed = 1;
  int64_t runs = 8;  // for small cases
  WHORL_FIELDS(CostOptions, protocols, leases, followers, herd, locks, largest, preset, seed, runs);

  // The lease with which herds are measured, and many locks are simulated, and the number of followers with
  // which locks are measured: 10 s and 2 if the options have them, otherwise the first of each.
  Duration UsualLease() const;
  int64_t UsualFollowers() const;
};

// How well a law predicts a case that was measured as well.
struct LawCheck {
  std::string protocol;
  int64_t size = 0;      // followers, or locks
  double deviation = 0;  // relative, of the calls per hour
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
  std::vector<CostFigures> locks;  // by protocol, lease and locks
  std::vector<LawCheck> lock_checks;
  std::vector<LeftOutCost> left_out;
};

// Measures the report. Cases that cannot be measured are listed in `left_out`. `go_on` is as in
// MeasureCosts. kInvalidArgument: no case can be measured; the message says why. kInternal: a run
// failed to run.
absl::Status MeasureCostReport(const CostOptions& options, int threads,
                               const std::function<BatchStep(size_t done, size_t all)>& go_on,
                               CostReport& report);

}  // namespace whorl::sim
