// When a violation was decided is a claim about runs that did not happen. It must be the same each
// time, bounded, and silent where chance has no part.
#include "sim/measure/decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/scenario/writer.h"
#include "sim/world/driver.h"
#include "tests/sim/measure/two_believe.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::decision_test {
namespace {

using DecisionTest = RaceTest;
using testing::HasSubstr;

TEST_F(DecisionTest, WhatTheScenarioDecidesIsDecidedBeforeTheStart) {
  const Scenario scenario = ScenarioOf(kTwoBelieveByAPause);
  const RunResult result = RunScenario(scenario, scenario.seed, nullptr);
  const Decision decision = DecisionOf(scenario, result, kTwoBelieve);
  ASSERT_EQ(decision.moments.size(), 2U) << "the start, and the violation";
  EXPECT_EQ(decision.Certain(), 0U);
  EXPECT_TRUE(decision.jumps.empty());
  EXPECT_EQ(
      decision.Text(),
      "when it was decided: by the scenario, not by chance; certain from 0 s on, the start of "
      "the run: all of 200 other runs of the scenario, with chance drawn anew, violate "
      "single_leader_belief as well");
}

TEST_F(DecisionTest, WhatChanceDecidesHasItsMomentAndTheStepThatDidIt) {
  const Decision decision = DecisionOf(race_, violating_, kTwoBelieve);
  ASSERT_GT(decision.moments.size(), 5U);
  EXPECT_LE(decision.moments.size(), 50U);
  EXPECT_LT(decision.moments.front().Share(), 0.9) << "at the start it is open";
  EXPECT_GT(decision.Certain(), 0U);
  EXPECT_TRUE(std::ranges::is_sorted(decision.moments, {}, &DecisionMoment::at));
  EXPECT_EQ(decision.moments.back().continuations, 0) << "the violation itself";
  ASSERT_FALSE(decision.jumps.empty());
  for (const DecisionJump& jump : decision.jumps) {
    EXPECT_FALSE(jump.text.empty());
    EXPECT_GT(jump.event, 0U);
  }
  EXPECT_THAT(
      decision.Text(),
      HasSubstr(
          "chance has a part in it; of 200 other runs of the scenario, with chance drawn anew, "));
}

TEST_F(DecisionTest, IsTheSameOnEachRunAndWithAnyNumberOfThreads) {
  const auto json = [&](int threads) {
    return DecisionJson(DecisionOf(race_, violating_, kTwoBelieve,
                                   {.moments = 20, .continuations = 40, .threads = threads}));
  };
  EXPECT_EQ(json(1), json(1));
  EXPECT_EQ(json(1), json(3));
}

TEST_F(DecisionTest, ClaimsNothingOfARunThatDrawsNothing) {
  Scenario scenario = ScenarioOf(kTwoBelieveByAPause);
  const RunResult result = RunScenario(scenario, scenario.seed, nullptr);
  scenario.schedule.emplace_back();
  const Decision decision = DecisionOf(scenario, result, kTwoBelieve);
  EXPECT_TRUE(decision.moments.empty());
  EXPECT_THAT(decision.Text(), HasSubstr("not measured, for the scenario's schedule decides"));
}

TEST_F(DecisionTest, ARunThatIsTooLongIsRefusedInWords) {
  const Scenario scenario = ScenarioOf(kTwoBelieveByAPause);
  const RunResult result = RunScenario(scenario, scenario.seed, nullptr);
  const Decision decision = DecisionOf(scenario, result, kTwoBelieve, {.events = 1'000});
  EXPECT_TRUE(decision.moments.empty());
  EXPECT_THAT(decision.Text(), HasSubstr("too long"));
}

TEST_F(DecisionTest, FewerEventsMeanFewerContinuations) {
  const Decision decision =
      DecisionOf(race_, violating_, kTwoBelieve, {.events = violating_.events * 250});
  ASSERT_GT(decision.moments.size(), 2U);
  for (size_t i = 1; i + 1 < decision.moments.size(); ++i) {
    EXPECT_LT(decision.moments[i].continuations, 200);
    EXPECT_GE(decision.moments[i].continuations, 20);
  }
}

// A fork with the seed of the run itself, from before the first draw, is the run.
TEST_F(DecisionTest, AForkGoesOnAsARunOfItsSeed) {
  const Driver start(race_, 5, nullptr);
  Driver fork = start.Fork(5, nullptr);
  fork.Finish();
  Driver run(race_, 5, nullptr);
  run.Finish();
  EXPECT_EQ(fork.hash(), run.hash());
  Driver other = start.Fork(6, nullptr);
  other.Finish();
  EXPECT_NE(other.hash(), run.hash());
}

}  // namespace
}  // namespace whorl::sim::decision_test
