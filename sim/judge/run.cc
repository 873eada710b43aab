#include "sim/judge/run.h"

#include <algorithm>
#include <cstdint>

#include "sim/judge/run_judge.h"
#include "sim/judge/waypoints.h"
#include "sim/world/latency.h"

namespace whorl::sim {
namespace {

// Passes every observation to the judge first, then to the sinks.
class JudgingSink final : public ObservationSink {
 public:
  JudgingSink(const Scenario& scenario, ObservationSink* next, JudgedSink* judged = nullptr)
      : judge_(scenario, RoundTripP999(scenario.spanner.preset)),
        waypoints_(scenario),
        next_(next),
        judged_(judged) {}

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override {
    judge_.Observe(observation);
    if (!waypoints_.empty()) waypoints_.Hear(observation, judge_.ledger());
    if (judged_ != nullptr) judged_->Hear(observation, judge_);
    if (next_ != nullptr) next_->Hear(observation, ordinal, hash);
  }

  CheckReport Finish(Instant end) { return judge_.Finish(end); }
  const WaypointsOfRun& waypoints() const { return waypoints_; }

 private:
  RunJudge judge_;
  WaypointsOfRun waypoints_;
  ObservationSink* next_;
  JudgedSink* judged_;
};

class Run {
 public:
  Run(const Scenario& scenario, uint64_t seed, ObservationSink* sink,
      ConfigMaker make_config = nullptr, JudgedSink* judged = nullptr)
      : scenario_(scenario),
        seed_(seed),
        judge_(scenario, sink, judged),
        driver_(scenario, seed, &judge_, make_config) {}
  Run(const Scenario& scenario, const Branch& branch, ObservationSink* sink)
      : scenario_(scenario),
        seed_(branch.seed),
        judge_(scenario, sink),
        driver_(Left(scenario, branch, &judge_)) {}

  Driver& driver() { return driver_; }
  RunResult Finish() {
    driver_.Finish();
    return {.seed = seed_,
            .hash = driver_.hash(),
            .events = driver_.events(),
            .observations = driver_.observations(),
            .simulated = scenario_.duration,
            .checks = judge_.Finish({scenario_.duration.ns}),
            .unfired_faults = driver_.UnfiredFaults(),
            .failed_entry = driver_.failed_entry(),
            .schedule_problem = driver_.schedule_problem(),
            .reached = judge_.waypoints().reached(),
            .reached_at = judge_.waypoints().reached_at()};
  }

 private:
  static Driver Left(const Scenario& scenario, const Branch& branch, ObservationSink* sink) {
    Driver driver(scenario, branch.seed, sink);
    driver.Advance(branch.after);
    return driver.Fork(branch.chance, sink);
  }

  const Scenario& scenario_;
  uint64_t seed_;
  JudgingSink judge_;
  Driver driver_;
};

}  // namespace

RunResult RunScenario(const Scenario& scenario, uint64_t seed, ObservationSink* sink,
                      ConfigMaker make_config) {
  return Run(scenario, seed, sink, make_config).Finish();
}

RunResult RunScenario(const Scenario& scenario, uint64_t seed, ObservationSink* sink,
                      JudgedSink* judged) {
  return Run(scenario, seed, sink, nullptr, judged).Finish();
}

RunResult RunScenario(const Scenario& scenario, const Branch& branch, ObservationSink* sink) {
  return Run(scenario, branch, sink).Finish();
}

std::optional<RunResult> RunScenario(const Scenario& scenario, uint64_t seed, ObservationSink* sink,
                                     RunWatch& watch) {
  // The first parts are small: that a run takes years is told at once.
  const int64_t largest = std::max<int64_t>(scenario.duration.ns / 1'000, 1);
  int64_t part = std::max<int64_t>(scenario.duration.ns / 1'000'000, 1);
  Run run(scenario, seed, sink);
  for (Instant at = {part}; at.ns < scenario.duration.ns; at.ns += part) {
    run.driver().Advance(at);
    if (!watch.GoesOn(at, run.driver().events())) return std::nullopt;
    part = std::min(part * 2, largest);
  }
  return run.Finish();
}

}  // namespace whorl::sim
