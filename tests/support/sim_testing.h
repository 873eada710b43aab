// Runs small scenarios and keeps all observations, for tests of the world and of whole runs.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sim/judge/run.h"
#include "sim/scenario/loader.h"

namespace whorl::sim {

struct Witness : ObservationSink {
  std::vector<Observation> observations;
  RunResult result;

  void Hear(const Observation& observation, uint64_t, uint64_t) override {
    observations.push_back(observation);
  }

  // The times of the observations of type T that `wanted` accepts.
  template <typename T, typename Wanted>
  std::vector<Instant> When(const Wanted& wanted) const {
    std::vector<Instant> times;
    for (const Observation& observation : observations) {
      const auto* what = std::get_if<T>(&observation.what);
      if (what != nullptr && wanted(*what)) times.push_back(observation.at);
    }
    return times;
  }
  template <typename T>
  std::vector<Instant> When() const {
    return When<T>([](const T&) { return true; });
  }
  // Those of a step; those of a node.
  template <typename T>
  std::vector<Instant> OfStep(StepName step) const {
    return When<T>([step](const T& what) { return what.step == step; });
  }
  template <typename T>
  std::vector<Instant> OfNode(int16_t node) const {
    return When<T>([node](const T& what) {
      if constexpr (requires { what.call; }) {
        return what.call.process.node == node;
      } else {
        return what.process.node == node;
      }
    });
  }
  // The observations of type T, each with its time.
  template <typename T>
  std::vector<std::pair<Instant, T>> All() const {
    std::vector<std::pair<Instant, T>> all;
    for (const Observation& observation : observations) {
      const auto* what = std::get_if<T>(&observation.what);
      if (what != nullptr) all.emplace_back(observation.at, *what);
    }
    return all;
  }
};

inline Scenario ScenarioOf(const std::string& text) {
  auto scenario = ParseScenario(text, "test.json");
  EXPECT_TRUE(scenario.ok()) << scenario.status().message();
  return scenario.ok() ? *scenario : Scenario{};
}

inline Witness Watch(const Scenario& scenario) {
  Witness witness;
  witness.result = RunScenario(scenario, scenario.seed, &witness);
  return witness;
}

// A scenario of spindle_v2 with a lease of 5 s and nodes a, b and c that start at 0, 1 and 2 s.
// `more` are further keys, each followed by a comma.
inline Witness WitnessThree(const std::string& duration, const std::string& more,
                            const std::string& faults) {
  return Watch(ScenarioOf(R"({"version": 1, "about": "a test", "protocol": "spindle_v2",
    "lease": "5s", "nodes": [{"name": "a"}, {"name": "b", "start_at": "1s"},
    {"name": "c", "start_at": "2s"}], )" +
                          more + R"("duration": ")" + duration + R"(", "faults": [)" + faults +
                          "]}"));
}

// For 60 s.
inline Witness WitnessFaults(const std::string& faults) { return WitnessThree("60s", "", faults); }

// a pauses just after it was told that it has the lock, b takes over, and a's late write is refused.
inline constexpr char kStaleTokenByAPause[] =
    R"({"version": 1, "about": "a test", "protocol": "spindle_v2",
  "lease": "5s", "nodes": ["a", {"name": "b", "start_at": "2s"}], "duration": "60s", "seed": 4,
  "workload": {"write_every": "200ms", "work_for": "50ms", "resource": "both"},
  "faults": [{"when": {"node": "a", "step": "has_lock", "phase": "ended", "count": 100},
              "do": "pause", "node": "a", "for": "15s"}]})";

constexpr Instant At(Duration since_start) { return Instant{} + since_start; }

// In runs of the scenario with `seeds` seeds.
inline void ExpectPromisesKept(const std::string& text, uint64_t seeds) {
  const Scenario scenario = ScenarioOf(text);
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const RunResult result = RunScenario(scenario, seed, nullptr);
    for (const InvariantResult& invariant : result.checks.invariants) {
      EXPECT_TRUE(invariant.verdict == Verdict::kHolds || invariant.promise != Promise::kPromised)
          << WordOf(invariant.invariant) << ", seed " << seed;
    }
  }
}

}  // namespace whorl::sim
