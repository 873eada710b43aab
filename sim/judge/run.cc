#include "sim/judge/run.h"

#include "sim/judge/checkers.h"
#include "sim/world/latency.h"

namespace whorl::sim {
namespace {

// Passes every observation to the checkers first, then to the sink.
class JudgingSink final : public ObservationSink {
 public:
  JudgingSink(const Scenario& scenario, ObservationSink* next)
      : checkers_(scenario, RoundTripP999(scenario.spanner.preset)), next_(next) {}

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override {
    checkers_.Observe(observation);
    if (next_ != nullptr) next_->Hear(observation, ordinal, hash);
  }

  CheckReport Finish(Instant end) { return checkers_.Finish(end); }

 private:
  Checkers checkers_;
  ObservationSink* next_;
};

}  // namespace

RunResult RunScenario(const Scenario& scenario, uint64_t seed, ObservationSink* sink) {
  JudgingSink judge(scenario, sink);
  Driver driver(scenario, seed, &judge);
  driver.Finish();
  return {.seed = seed,
          .hash = driver.hash(),
          .events = driver.events(),
          .observations = driver.observations(),
          .simulated = scenario.duration,
          .checks = judge.Finish({scenario.duration.ns}),
          .unfired_faults = driver.UnfiredFaults()};
}

}  // namespace whorl::sim
