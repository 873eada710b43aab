// Makes scenarios in which two processes believe that they lead, for tests of how a violation is
// described.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "sim/judge/run.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim {

// A pause that outlives the lease: whatever chance draws, a wakes up and believes still.
inline constexpr char kTwoBelieveByAPause[] =
    R"({"version": 1, "about": "a test", "protocol": "spindle_v2",
  "lease": "5s", "nodes": ["a", {"name": "b", "start_at": "1s"}], "duration": "40s", "seed": 4,
  "faults": [{"at": "15s", "do": "pause", "node": "a", "for": "16s"}]})";

// a pauses while it asks, and whether its lease is over by then is for latencies to say.
inline constexpr char kRace[] = R"({"version": 1, "about": "a test", "protocol": "semaphore",
  "lease": "2s", "nodes": ["a", {"name": "b", "start_at": "500ms"}], "duration": "30s", "seed": 1,
  "workload": {"resource": "unfenced"},
  "faults": [{"when": {"node": "a", "step": "has_lock", "phase": "ended", "count": 10},
              "do": "pause", "node": "a", "for": "4s"}]})";

inline constexpr auto kTwoBelieve = Invariant::kSingleLeaderBelief;

// The run of the first seed in which two believe.
inline RunResult Violating(const Scenario& scenario) {
  for (uint64_t seed = 1; seed < 2'000; ++seed) {
    RunResult result = RunScenario(scenario, seed, nullptr);
    if (result.checks[kTwoBelieve].verdict == Verdict::kViolated) return result;
  }
  ADD_FAILURE() << "no seed violates it";
  return {};
}

// The first run of the race in which two believe.
class RaceTest : public testing::Test {
 protected:
  const Scenario race_ = ScenarioOf(kRace);
  const RunResult violating_ = Violating(race_);
};

}  // namespace whorl::sim
