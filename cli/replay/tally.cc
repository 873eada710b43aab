#include "cli/replay/tally.h"

#include <algorithm>

#include "base/text.h"
#include "sim/judge/expectations.h"

namespace whorl::cli {
namespace {

SeedCounts::DifferingRun DifferingOf(const RunOutcome& outcome) {
  const sim::Difference& difference = *outcome.difference;
  const uint64_t seed = outcome.result.seed;
  return {.seed = seed,
          .text = Cat("two runs of seed ", std::to_string(seed), " differ, first in observation ",
                      std::to_string(difference.ordinal), "\n  one:   ", difference.first,
                      "\n  other: ", difference.second)};
}

// REQUIRES: no seed is in both.
template <typename BySeed>
void AddBySeed(const std::vector<BySeed>& from, std::vector<BySeed>& into) {
  into.insert(into.end(), from.begin(), from.end());
  std::ranges::sort(into, {}, &BySeed::seed);
}

}  // namespace

void SeedCounts::Add(const RunOutcome& outcome, bool keeps) {
  const sim::RunResult& result = outcome.result;
  const sim::Metrics& all = result.checks.metrics;
  for (size_t i = 0; i < kCountOf<sim::Metric>; ++i) {
    const int64_t value = all.values[i];
    Range& range = metrics[i];
    range.min = runs == 0 ? value : std::min(range.min, value);
    range.max = runs == 0 ? value : std::max(range.max, value);
  }
  KeptRun run = {.seed = result.seed, .hash = result.hash, .violated = {}};
  for (const sim::InvariantResult& invariant : result.checks.invariants) {
    if (invariant.verdict != sim::Verdict::kViolated) continue;
    run.violated.push_back(invariant.invariant);
    InvariantTally& tally = invariants[static_cast<size_t>(invariant.invariant)];
    if (tally.runs++ == 0) tally.first_seed = result.seed;
    tally.breaks_promise |= invariant.promise == Promise::kPromised;
  }
  simulated += result.simulated;
  wall_seconds += outcome.wall_seconds;
  if (keeps) kept.push_back(std::move(run));
  if (outcome.difference.has_value()) differing.push_back(DifferingOf(outcome));
  ++runs;
}

void SeedCounts::Add(const SeedCounts& other) {
  if (other.runs == 0) return;
  for (size_t i = 0; i < metrics.size(); ++i) {
    const Range& range = other.metrics[i];
    metrics[i].min = runs == 0 ? range.min : std::min(metrics[i].min, range.min);
    metrics[i].max = runs == 0 ? range.max : std::max(metrics[i].max, range.max);
  }
  for (size_t i = 0; i < invariants.size(); ++i) {
    const InvariantTally& tally = other.invariants[i];
    if (tally.runs == 0) continue;
    InvariantTally& mine = invariants[i];
    mine.first_seed =
        mine.runs == 0 ? tally.first_seed : std::min(mine.first_seed, tally.first_seed);
    mine.runs += tally.runs;
    mine.breaks_promise |= tally.breaks_promise;
  }
  simulated += other.simulated;
  wall_seconds += other.wall_seconds;
  AddBySeed(other.kept, kept);
  AddBySeed(other.differing, differing);
  runs += other.runs;
}

bool SeedCounts::AreOfTheSameRuns(const SeedCounts& other) const {
  return runs == other.runs && metrics == other.metrics && invariants == other.invariants &&
         simulated == other.simulated && kept == other.kept && differing == other.differing;
}

void Tally::Add(RunOutcome outcome) {
  counts_.Add(outcome, keep_runs_);
  const bool is_own_seed = outcome.result.seed == scenario_->seed;
  if (is_own_seed || run_count_ == 1) Show(std::move(outcome));
}

void Tally::Show(RunOutcome outcome) {
  if (outcome.result.seed == scenario_->seed) {
    judged_ = true;
    failed_expectations_ = sim::FailuresOf(*scenario_, outcome.result);
  }
  shown_ = std::move(outcome);
}

std::vector<std::string> Tally::failures() const {
  std::vector<std::string> all = failed_expectations_;
  for (const SeedCounts::DifferingRun& run : counts_.differing) all.push_back(run.text);
  return all;
}

Conclusion Tally::conclusion() const {
  if (!failed_expectations_.empty() || !counts_.differing.empty()) return Conclusion::kFailed;
  return judged_ ? Conclusion::kAsExpected : Conclusion::kNotJudged;
}

uint64_t Tally::seed_to_replay() const {
  if (!counts_.differing.empty()) return counts_.differing.front().seed;
  return shown_.has_value() ? shown_->result.seed : first_seed_;
}

}  // namespace whorl::cli
