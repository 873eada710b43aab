// Combines the results of all runs of one scenario.
//
// Invariant: a tally does not grow with the number of runs, except for SeedCounts::kept, which only JSON
// reports need.
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
  WHORL_FIELDS(Range, min, max);
};

struct InvariantTally {
  int64_t runs = 0;             // how many violated it
  uint64_t first_seed = 0;      // the seed of the first of them
  bool breaks_promise = false;  // in one of them
  WHORL_FIELDS(InvariantTally, runs, first_seed, breaks_promise);

  Promise Found() const { return breaks_promise ? Promise::kPromised : Promise::kNotPromised; }
};

// What adds up over runs. The counts of several parts of the runs, added in any order, are those of all.
struct SeedCounts {
  // A run whose seed and hash are kept.
  struct KeptRun {
    uint64_t seed = 0;
    uint64_t hash = 0;
    std::vector<Invariant> violated;
    WHORL_FIELDS(KeptRun, seed, hash, violated);
  };
  // A run that could not be repeated.
  struct DifferingRun {
    uint64_t seed = 0;
    std::string text;  // how the second run differs
    WHORL_FIELDS(DifferingRun, seed, text);
  };

  uint64_t runs = 0;
  std::array<Range, kCountOf<sim::Metric>> metrics{};
  std::array<InvariantTally, kCountOf<Invariant>> invariants{};
  Duration simulated;
  double wall_seconds = 0;
  std::vector<KeptRun> kept;            // by seed
  std::vector<DifferingRun> differing;  // by seed

  void Add(const RunOutcome& outcome, bool keeps);
  // REQUIRES: of other seeds of the same scenario.
  void Add(const SeedCounts& other);
  // Whether both are of runs that were the same, however long they took.
  bool AreOfTheSameRuns(const SeedCounts& other) const;
};

class Tally {
 public:
  // `scenario` outlives this.
  Tally(const sim::Scenario& scenario, uint64_t first_seed, uint64_t run_count, bool keep_runs)
      : scenario_(&scenario),
        first_seed_(first_seed),
        run_count_(run_count),
        keep_runs_(keep_runs) {}

  // Call it in the order of seeds. REQUIRES: fewer than run_count were added.
  void Add(RunOutcome outcome);
  bool IsComplete() const { return counts_.runs == run_count_; }

  // Takes runs that were made elsewhere. If one of them has the file's own seed, it has to be shown, too.
  void Take(SeedCounts counts) { counts_ = std::move(counts); }
  // Judges the run, if it is to be judged, and shows it, without counting it.
  void Show(RunOutcome outcome);

  // All functions below: REQUIRES: IsComplete().
  Conclusion conclusion() const;
  const sim::Scenario& scenario() const { return *scenario_; }
  uint64_t first_seed() const { return first_seed_; }
  uint64_t run_count() const { return run_count_; }
  const SeedCounts& counts() const { return counts_; }
  // The run that was judged, or the only one; null when many ran and none was judged.
  const RunOutcome* shown() const { return shown_.has_value() ? &*shown_ : nullptr; }
  bool is_judged() const { return judged_; }
  // Of the judged run.
  const std::vector<std::string>& failed_expectations() const { return failed_expectations_; }
  // Failed expectations of the judged run, and runs that could not be repeated.
  std::vector<std::string> failures() const;
  Range range(sim::Metric metric) const { return counts_.metrics[static_cast<size_t>(metric)]; }
  const InvariantTally& invariant(Invariant name) const {
    return counts_.invariants[static_cast<size_t>(name)];
  }
  Duration simulated() const { return counts_.simulated; }  // summed over the runs
  double wall_seconds() const { return counts_.wall_seconds; }
  const std::vector<SeedCounts::KeptRun>& kept_runs() const { return counts_.kept; }
  // The seed to replay: that of the first run that could not be repeated, else of the shown run, else
  // the first.
  uint64_t seed_to_replay() const;

 private:
  const sim::Scenario* scenario_;
  uint64_t first_seed_;
  uint64_t run_count_;
  bool keep_runs_;
  SeedCounts counts_;
  bool judged_ = false;
  std::optional<RunOutcome> shown_;
  std::vector<std::string> failed_expectations_;
};

}  // namespace whorl::cli
