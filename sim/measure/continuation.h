// Makes continuations of a run: copies of it as of one moment, from which chance is drawn anew.
// What the scenario decides (faults, times, leases) it decides in each of them.
//
// Invariants:
//   1. A run, a moment and a number of the continuation decide it.
//   2. Every event of the moment's instant, and of those before it, has happened in each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/names.h"
#include "sim/judge/run.h"
#include "sim/judge/run_judge.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"
#include "sim/world/driver.h"

namespace whorl::sim {

inline constexpr Instant kBeforeStart = {-1};
inline constexpr int64_t kFewestContinuations = 20;  // of a moment

// The seed of the chance that continuation `i` of a run draws. A continuation from before the start
// is the run of that seed.
uint64_t ChanceOfContinuation(uint64_t seed, size_t i);

// Why not even the fewest continuations are tried from this number of moments, as a clause; empty if they are.
// `events`: that all may take.
std::string WhyNoContinuations(const Scenario& scenario, const RunResult& result, size_t moments,
                               uint64_t events);

// Judges a run, and has enough once the invariant was violated.
class Watcher : public EndingSink {
 public:
  Watcher(RunJudge judge, Invariant invariant) : judge_(std::move(judge)), invariant_(invariant) {}

  void Hear(const Observation& observation, uint64_t /*ordinal*/, uint64_t /*hash*/) override {
    judge_.Observe(observation);
  }
  bool HasEnough() const override { return judge_.violations(invariant_) > 0; }
  bool HasViolated(Instant end) const {
    return HasEnough() || judge_.Finish(end)[invariant_].verdict == Verdict::kViolated;
  }
  const RunJudge& judge() const { return judge_; }

 private:
  RunJudge judge_;
  Invariant invariant_;
};

// The instants of a run before the one of its violation, without repetitions.
class Instants final : public EndingSink {
 public:
  // `violating`: the ordinal of the observation that showed the violation.
  explicit Instants(uint64_t violating) : violating_(violating) {}

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t /*hash*/) override {
    if (ordinal == violating_) violated_at_ = observation.at;
    if (all_.empty() || all_.back() < observation.at) all_.push_back(observation.at);
  }
  bool HasEnough() const override { return violated_at_.has_value(); }
  // kBeforeStart, and those that were heard, up to the violation's.
  std::vector<Instant> Candidates() const;
  // If it was noticed only at the end of the run, the end.
  Instant violated_at() const {
    return violated_at_.value_or(all_.empty() ? Instant{} : all_.back());
  }

 private:
  uint64_t violating_;
  std::optional<Instant> violated_at_;
  std::vector<Instant> all_;
};

}  // namespace whorl::sim
