#include "cli/replay/tally.h"

#include <algorithm>

#include "sim/judge/expectations.h"
#include "sim/scenario/error_text.h"

namespace whorl::cli {

void Tally::Add(RunOutcome outcome) {
  Count(outcome.result);
  wall_seconds_ += outcome.wall_seconds;
  Judge(outcome);
  ++added_;
  const bool is_own_seed = outcome.result.seed == scenario_->seed;
  if (is_own_seed || run_count_ == 1) shown_ = std::move(outcome);
}

void Tally::Count(const sim::RunResult& result) {
  const sim::Metrics& metrics = result.checks.metrics;
  for (size_t i = 0; i < kCountOf<sim::Metric>; ++i) {
    const int64_t value = metrics.values[i];
    Range& range = metrics_[i];
    range.min = added_ == 0 ? value : std::min(range.min, value);
    range.max = added_ == 0 ? value : std::max(range.max, value);
  }
  KeptRun kept = {.seed = result.seed, .hash = result.hash, .violated = {}};
  for (const sim::InvariantResult& invariant : result.checks.invariants) {
    if (invariant.verdict != sim::Verdict::kViolated) continue;
    kept.violated.push_back(invariant.invariant);
    InvariantTally& tally = invariants_[static_cast<size_t>(invariant.invariant)];
    if (tally.runs++ == 0) tally.first_seed = result.seed;
  }
  simulated_ += result.simulated;
  if (keep_runs_) kept_runs_.push_back(std::move(kept));
}

void Tally::Judge(const RunOutcome& outcome) {
  if (outcome.result.seed == scenario_->seed) {
    judged_ = true;
    std::vector<std::string> failures = sim::FailuresOf(*scenario_, outcome.result);
    failures_.insert(failures_.begin(), failures.begin(), failures.end());
  }
  if (!outcome.difference.has_value()) return;
  if (!differing_seed_.has_value()) differing_seed_ = outcome.result.seed;
  const sim::Difference& difference = *outcome.difference;
  failures_.push_back(sim::Cat("two runs of seed ", std::to_string(outcome.result.seed),
                               " differ, first in observation ", std::to_string(difference.ordinal),
                               "\n  one:   ", difference.first, "\n  other: ", difference.second));
}

Conclusion Tally::conclusion() const {
  if (!failures_.empty()) return Conclusion::kFailed;
  return judged_ ? Conclusion::kAsExpected : Conclusion::kNotJudged;
}

uint64_t Tally::seed_to_replay() const {
  if (differing_seed_.has_value()) return *differing_seed_;
  return shown_.has_value() ? shown_->result.seed : first_seed_;
}

}  // namespace whorl::cli
