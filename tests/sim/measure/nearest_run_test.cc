// The nearest run that passes is what an author compares a failure with. It must be the failing run up
// to where it leaves it, must pass, and must not be claimed where chance has no part.
#include "sim/measure/nearest_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/measure/continuation.h"
#include "tests/sim/measure/two_believe.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::nearest_run_test {
namespace {

using NearestRunTest = RaceTest;
using testing::HasSubstr;

TEST_F(NearestRunTest, LeavesTheFailingRunWhereItSaysAndPasses) {
  const NearestSearch search = FindNearestRun(race_, violating_, kTwoBelieve);
  ASSERT_TRUE(search.found.has_value()) << search.none;
  const NearestRun& found = *search.found;
  Witness one;
  RunScenario(race_, violating_.seed, &one);
  Witness other;
  const RunResult passing = RunScenario(race_, found.branch, &other);
  EXPECT_EQ(passing.checks[kTwoBelieve].verdict, Verdict::kHolds);
  ASSERT_GT(one.observations.size(), found.common);
  ASSERT_GT(other.observations.size(), found.common);
  for (size_t i = 0; i < found.common; ++i)
    ASSERT_EQ(one.observations[i], other.observations[i]) << i;
  EXPECT_NE(one.observations[found.common], other.observations[found.common]);
  EXPECT_LE(one.observations[found.common - 1].at, violating_.checks[kTwoBelieve].first->at);
  EXPECT_GT(one.observations[found.common].at, found.branch.after)
      << "chance was drawn anew before";
}

// What was tried after the instant from which none passes is what the claim rests on.
TEST_F(NearestRunTest, FromTheInstantThatItNamesNoneOfAsManyPasses) {
  const NearestSearch search = FindNearestRun(race_, violating_, kTwoBelieve);
  ASSERT_TRUE(search.found.has_value() && search.found->certain.has_value());
  EXPECT_GE(search.found->passed, 1);
  EXPECT_LT(search.found->branch.after, *search.found->certain);
  for (size_t i = 0; i < static_cast<size_t>(search.found->continuations); ++i) {
    const Branch branch = {.seed = violating_.seed,
                           .after = *search.found->certain,
                           .chance = ChanceOfContinuation(violating_.seed, i)};
    ASSERT_EQ(RunScenario(race_, branch, nullptr).checks[kTwoBelieve].verdict, Verdict::kViolated);
  }
}

TEST_F(NearestRunTest, IsTheSameWithAnyNumberOfThreads) {
  const NearestSearch one = FindNearestRun(race_, violating_, kTwoBelieve, {.threads = 1});
  const NearestSearch three = FindNearestRun(race_, violating_, kTwoBelieve, {.threads = 3});
  ASSERT_TRUE(one.found.has_value() && three.found.has_value());
  EXPECT_EQ(one.found->branch.after, three.found->branch.after);
  EXPECT_EQ(one.found->branch.chance, three.found->branch.chance);
  EXPECT_EQ(one.found->common, three.found->common);
}

TEST_F(NearestRunTest, SaysWhyThereIsNone) {
  Scenario scenario = ScenarioOf(kTwoBelieveByAPause);
  const RunResult failing = RunScenario(scenario, scenario.seed, nullptr);
  const auto none = [&](const NearestOptions& options) {
    const NearestSearch search = FindNearestRun(scenario, failing, kTwoBelieve, options);
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
TEST_F(NearestRunTest, ABranchFromBeforeTheStartIsTheRunOfItsSeed) {
  Witness branch;
  RunScenario(race_, {.seed = 5, .after = kBeforeStart, .chance = 6}, &branch);
  Witness run;
  RunScenario(race_, 6, &run);
  EXPECT_EQ(branch.observations, run.observations);
}

}  // namespace
}  // namespace whorl::sim::nearest_run_test
