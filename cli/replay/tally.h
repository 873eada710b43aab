// The combined results of all runs of one scenario.
//
// Invariant: a tally does not grow with the number of runs, except for kept_runs(), which only the JSON
// report needs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/replay/run.h"
#include "sim/judge/check_report.h"
#include "sim/judge/run.h"
#include "sim/scenario/scenario.h"

namespace whorl::cli {

enum class Conclusion : uint8_t {
  kAsExpected,
  kFailed,
  kNotJudged,  // no run had the file's own seed
};

// Smallest and greatest over the runs.
struct Range {
  int64_t min = 0;
  int64_t max = 0;
};

struct InvariantTally {
  int64_t runs = 0;         // how many violated it
  uint64_t first_seed = 0;  // the seed of the first of them
};

class Tally {
 public:
  // A run whose seed and hash are kept.
  struct KeptRun {
    uint64_t seed = 0;
    uint64_t hash = 0;
    std::vector<Invariant> violated;
  };

  // `scenario` outlives this.
  Tally(const sim::Scenario& scenario, uint64_t first_seed, uint64_t run_count, bool keep_runs)
      : scenario_(&scenario),
        first_seed_(first_seed),
        run_count_(run_count),
        keep_runs_(keep_runs) {}

  // Call it in the order of seeds. REQUIRES: fewer than run_count were added.
  void Add(RunOutcome outcome);
  bool IsComplete() const { return added_ == run_count_; }

  // All functions below: REQUIRES: IsComplete().
  Conclusion conclusion() const;
  const sim::Scenario& scenario() const { return *scenario_; }
  uint64_t first_seed() const { return first_seed_; }
  uint64_t run_count() const { return run_count_; }
  // The run that was judged, or the only one; null when many ran and none was judged.
  const RunOutcome* shown() const { return shown_.has_value() ? &*shown_ : nullptr; }
  bool is_judged() const { return judged_; }
  // Failed expectations of the judged run, and runs that could not be repeated.
  const std::vector<std::string>& failures() const { return failures_; }
  Range range(sim::Metric metric) const { return metrics_[static_cast<size_t>(metric)]; }
  const InvariantTally& invariant(Invariant name) const {
    return invariants_[static_cast<size_t>(name)];
  }
  Duration simulated() const { return simulated_; }  // summed over the runs
  double wall_seconds() const { return wall_seconds_; }
  const std::vector<KeptRun>& kept_runs() const { return kept_runs_; }
  // The seed to replay: that of the first run that could not be repeated, else of the shown run, else
  // the first.
  uint64_t seed_to_replay() const;

 private:
  void Count(const sim::RunResult& result);
  void Judge(const RunOutcome& outcome);

  const sim::Scenario* scenario_;
  uint64_t first_seed_;
  uint64_t run_count_;
  bool keep_runs_;
  uint64_t added_ = 0;
  bool judged_ = false;
  std::optional<RunOutcome> shown_;
  std::vector<std::string> failures_;
  std::optional<uint64_t> differing_seed_;
  std::array<Range, kCountOf<sim::Metric>> metrics_{};
  std::array<InvariantTally, kCountOf<Invariant>> invariants_{};
  Duration simulated_;
  double wall_seconds_ = 0;
  std::vector<KeptRun> kept_runs_;
};

}  // namespace whorl::cli
