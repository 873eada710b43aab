// The nearest run that passes is what an author compares a failure with. It must be the failing run up
// to where it leaves it, must pass, and must not be claimed where chance has no part.
#include "sim/measure/nearest_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/measure/continuation.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::nearest_run_test {
namespace {

using testing::HasSubstr;

constexpr auto kBelief = Invariant::kSingleLeaderBelief;

// A pause that outlives the lease: whatever chance draws, a wakes up and believes still.
constexpr char kPaused[] = R"({"version": 1, "about": "a test", "protocol": "spindle_v2",
  "lease": "5s", "nodes": ["a", {"name": "b", "start_at": "1s"}], "duration": "40s", "seed": 4,
  "faults": [{"at": "15s", "do": "pause", "node": "a", "for": "16s"}]})";

// a pauses while it asks, and whether its lease is over by then is for latencies to say.
constexpr char kRace[] = R"({"version": 1, "about": "a test", "protocol": "semaphore",
  "lease": "2s", "nodes": ["a", {"name": "b", "start_at": "500ms"}], "duration": "30s", "seed": 1,
  "workload": {"resource": "unfenced"},
  "faults": [{"when": {"node": "a", "step": "has_lock", "phase": "ended", "count": 10},
              "do": "pause", "node": "a", "for": "4s"}]})";

// The run of the first seed that violates it.
RunResult Violating(const Scenario& scenario) {
  for (uint64_t seed = 1; seed < 2'000; ++seed) {
    RunResult result = RunScenario(scenario, seed, nullptr);
    if (result.checks[kBelief].verdict == Verdict::kViolated) return result;
  }
  ADD_FAILURE() << "no seed violates it";
  return {};
}

class Kept final : public ObservationSink {
 public:
  void Hear(const Observation& observation, uint64_t /*ordinal*/, uint64_t /*hash*/) override {
    all.push_back(observation);
  }
  std::vector<Observation> all;
};

TEST(NearestRunTest, LeavesTheFailingRunWhereItSaysAndPasses) {
  const Scenario scenario = ScenarioOf(kRace);
  const RunResult failing = Violating(scenario);
  const NearestSearch search = FindNearestRun(scenario, failing, kBelief);
  ASSERT_TRUE(search.found.has_value()) << search.none;
  const NearestRun& found = *search.found;
  Kept one;
  RunScenario(scenario, failing.seed, &one);
  Kept other;
  const RunResult passing = RunScenario(scenario, found.branch, &other);
  EXPECT_EQ(passing.checks[kBelief].verdict, Verdict::kHolds);
  ASSERT_GT(one.all.size(), found.common);
  ASSERT_GT(other.all.size(), found.common);
  for (size_t i = 0; i < found.common; ++i) ASSERT_EQ(one.all[i], other.all[i]) << i;
  EXPECT_NE(one.all[found.common], other.all[found.common]);
  EXPECT_LE(one.all[found.common - 1].at, failing.checks[kBelief].first->at);
  EXPECT_GT(one.all[found.common].at, found.branch.after) << "chance was drawn anew before";
}

// What was tried after the instant from which none passes is what the claim rests on.
TEST(NearestRunTest, FromTheInstantThatItNamesNoneOfAsManyPasses) {
  const Scenario scenario = ScenarioOf(kRace);
  const RunResult failing = Violating(scenario);
  const NearestSearch search = FindNearestRun(scenario, failing, kBelief);
  ASSERT_TRUE(search.found.has_value() && search.found->certain.has_value());
  EXPECT_GE(search.found->passed, 1);
  EXPECT_LT(search.found->branch.after, *search.found->certain);
  for (size_t i = 0; i < static_cast<size_t>(search.found->continuations); ++i) {
    const Branch branch = {.seed = failing.seed,
                           .after = *search.found->certain,
                           .chance = ChanceOfContinuation(failing.seed, i)};
    ASSERT_EQ(RunScenario(scenario, branch, nullptr).checks[kBelief].verdict, Verdict::kViolated);
  }
}

TEST(NearestRunTest, IsTheSameWithAnyNumberOfThreads) {
  const Scenario scenario = ScenarioOf(kRace);
  const RunResult failing = Violating(scenario);
  const NearestSearch one = FindNearestRun(scenario, failing, kBelief, {.threads = 1});
  const NearestSearch three = FindNearestRun(scenario, failing, kBelief, {.threads = 3});
  ASSERT_TRUE(one.found.has_value() && three.found.has_value());
  EXPECT_EQ(one.found->branch.after, three.found->branch.after);
  EXPECT_EQ(one.found->branch.chance, three.found->branch.chance);
  EXPECT_EQ(one.found->common, three.found->common);
}

TEST(NearestRunTest, SaysWhyThereIsNone) {
  Scenario scenario = ScenarioOf(kPaused);
  const RunResult failing = RunScenario(scenario, scenario.seed, nullptr);
  const auto none = [&](const NearestOptions& options) {
    const NearestSearch search = FindNearestRun(scenario, failing, kBelief, options);
    EXPECT_FALSE(search.found.has_value());
    return search.none;
  };
  EXPECT_EQ(none({}),
            "none of 200 runs with chance drawn anew from the start passes; the scenario "
            "decides it");
  EXPECT_THAT(none({.events = 1'000}), HasSubstr("too long"));
  scenario.schedule.emplace_back();
  EXPECT_THAT(none({}), HasSubstr("the scenario's schedule decides every event"));
}

// From before the first draw, a branch is the run of its seed, so its result can be had by --seed.
TEST(NearestRunTest, ABranchFromBeforeTheStartIsTheRunOfItsSeed) {
  const Scenario scenario = ScenarioOf(kRace);
  Kept branch;
  RunScenario(scenario, {.seed = 5, .after = kBeforeStart, .chance = 6}, &branch);
  Kept run;
  RunScenario(scenario, 6, &run);
  EXPECT_EQ(branch.all, run.all);
}

}  // namespace
}  // namespace whorl::sim::nearest_run_test
