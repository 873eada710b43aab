#include "sim/measure/nearest_run.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/text.h"
#include "sim/judge/batch.h"
#include "sim/judge/run_judge.h"
#include "sim/measure/continuation.h"
#include "sim/world/driver.h"
#include "sim/world/latency.h"

namespace whorl::sim {
namespace {

// The rolling hash of a run after each of its observations.
class Hashes final : public ObservationSink {
 public:
  void Hear(const Observation& /*observation*/, uint64_t /*ordinal*/, uint64_t hash) override {
    all_.push_back(hash);
  }
  bool Has(uint64_t ordinal, uint64_t hash) const {
    return ordinal <= all_.size() && all_[ordinal - 1] == hash;
  }

 private:
  std::vector<uint64_t> all_;
};

// Counts the observations of a continuation that the run which it leaves has, too.
class Follower final : public EndingSink {
 public:
  Follower(RunJudge judge, Invariant invariant, const Hashes& hashes, uint64_t common)
      : watcher_(std::move(judge), invariant),
        invariant_(invariant),
        hashes_(hashes),
        common_(common) {}

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override {
    watcher_.Hear(observation, ordinal, hash);
    if (common_ + 1 == ordinal && hashes_.Has(ordinal, hash)) common_ = ordinal;
  }
  bool HasEnough() const override { return watcher_.HasEnough(); }
  bool Passes(Instant end) const {
    return !HasEnough() && watcher_.judge().Finish(end)[invariant_].verdict == Verdict::kHolds;
  }
  uint64_t common() const { return common_; }

 private:
  Watcher watcher_;
  Invariant invariant_;
  const Hashes& hashes_;
  uint64_t common_;
};

class NearestSearcher {
 public:
  NearestSearcher(const Scenario& scenario, const RunResult& result, Invariant invariant,
                  const NearestOptions& options)
      : scenario_(scenario), result_(result), invariant_(invariant), options_(options) {}

  NearestSearch Find() {
    Instants instants(result_.checks[invariant_].first->observation);
    RunWhileHeard(scenario_, result_.seed, instants);
    const std::vector<Instant> candidates = instants.Candidates();
    const auto steps = static_cast<uint64_t>(std::bit_width(candidates.size())) + 1;
    if (std::string why = WhyNoContinuations(scenario_, result_, steps, options_.events);
        !why.empty()) {
      return {.none = std::move(why), .found = std::nullopt};
    }
    RunScenario(scenario_, result_.seed, &hashes_);
    const uint64_t affordable = options_.events / steps / std::max<uint64_t>(1, result_.events);
    continuations_ =
        std::min(options_.continuations,
                 static_cast<int64_t>(std::min<uint64_t>(affordable, uint64_t{1} << 32)));
    std::optional<NearestRun> latest = After(kBeforeStart);
    if (!latest.has_value()) {
      return {.none = Cat(
                  "none of ", GroupedText(continuations_),
                  " runs with chance drawn anew from the start passes; the scenario decides it"),
              .found = std::nullopt};
    }
    size_t passing = 0;
    size_t failing = candidates.size() - 1;  // the violation's own
    while (failing - passing > 1) {
      const size_t middle = (passing + failing) / 2;
      if (std::optional<NearestRun> found = After(candidates[middle])) {
        latest = found;
        passing = middle;
      } else {
        failing = middle;
      }
    }
    if (failing + 1 < candidates.size()) latest->certain = candidates[failing];
    return {.none = {}, .found = latest};
  }

 private:
  // The nearest of the continuations after that moment that pass.
  std::optional<NearestRun> After(Instant moment) const {
    Watcher before(RunJudge(scenario_, RoundTripP999(scenario_.spanner.preset)), invariant_);
    Driver driver(scenario_, result_.seed, &before);
    driver.Advance(moment);
    struct Outcome {
      bool passes = false;
      uint64_t common = 0;
    };
    std::vector<Outcome> outcomes(static_cast<size_t>(continuations_));
    RunBatch(
        outcomes.size(), options_.threads,
        [&](size_t i) {
          Follower follower(before.judge(), invariant_, hashes_, driver.observations());
          Driver continuation = driver.Fork(ChanceOfContinuation(result_.seed, i), &follower);
          continuation.Advance({scenario_.duration.ns}, &follower);
          if (!follower.HasEnough()) continuation.Finish();
          outcomes[i] = {.passes = follower.Passes({scenario_.duration.ns}),
                         .common = follower.common()};
        },
        [](size_t, const std::optional<std::string>&) { return BatchStep::kGoOn; });
    NearestRun run;
    run.continuations = continuations_;
    for (size_t i = 0; i < outcomes.size(); ++i) {
      if (!outcomes[i].passes) continue;
      ++run.passed;
      if (run.passed > 1 && outcomes[i].common <= run.common) continue;
      run.branch = {
          .seed = result_.seed, .after = moment, .chance = ChanceOfContinuation(result_.seed, i)};
      run.common = outcomes[i].common;
    }
    if (run.passed == 0) return std::nullopt;
    return run;
  }

  const Scenario& scenario_;
  const RunResult& result_;
  const Invariant invariant_;
  const NearestOptions& options_;
  Hashes hashes_;
  int64_t continuations_ = 0;  // of each moment
};

}  // namespace

NearestSearch FindNearestRun(const Scenario& scenario, const RunResult& result, Invariant invariant,
                             const NearestOptions& options) {
  return NearestSearcher(scenario, result, invariant, options).Find();
}

}  // namespace whorl::sim
