// A search that begins where a scenario's schedule ends.
#include "sim/explore/prefix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "sim/explore/counterexample.h"
#include "sim/explore/memoized_model.h"
#include "sim/explore/scenario_space.h"
#include "sim/scenario/loader.h"

namespace whorl::sim::prefix_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Scenario Incident() {
  const absl::StatusOr<Scenario> scenario =
      LoadScenario(WHORL_SOURCE_DIR "/scenarios/s4_with_two_processes.json");
  EXPECT_TRUE(scenario.ok()) << scenario.status().message();
  return *scenario;
}

LockModel ModelOf(const Scenario& scenario) {
  const ScenarioSpace space = SpaceOf(scenario);
  EXPECT_THAT(space.errors, IsEmpty());
  return {space.scenario,
          {.faults = space.faults,
           .grid = Seconds(1),
           .longest_pause = space.longest_pause,
           .horizon = Seconds(13),
           .menu = space.menu}};
}

TEST(SchedulePrefix, LeadsWhereTheScheduleLeads) {
  const Scenario scenario = Incident();
  const LockModel model = ModelOf(scenario);
  const SchedulePrefix prefix = PrefixOf(model, scenario);
  EXPECT_EQ(prefix.problem, "");
  constexpr size_t kSteps = 4;  // of time, a second each
  EXPECT_EQ(prefix.moves.size(), scenario.schedule.size() + kSteps);

  LockModel::State state = std::move(model.Initial().front());
  for (const Move& move : prefix.moves) model.Step(*state, move);
  EXPECT_EQ(state->world.state().nodes[1].pauses, 1);
  EXPECT_EQ(state->world.state().nodes[0].life, Life::kDown);
  EXPECT_EQ(state->world.now(), Instant{} + Seconds(4));
  EXPECT_EQ(state->left, FaultBudget{}) << "both are spent";
}

// What a search without the schedule has not reached within memory.
TEST(SchedulePrefix, BringsASearchToAFindingThatNeedsTwoFaults) {
  const Scenario scenario = Incident();
  LockModel model = ModelOf(scenario);
  model.BeginAfter(PrefixOf(model, scenario).moves);
  constexpr auto kProperty = static_cast<int>(Invariant::kTokenMonotonic);
  const auto result = ExploreLocks(model, {.watched = 1U << kProperty, .stop_at_violation = true});
  ASSERT_EQ(result.violations.size(), 1U);
  EXPECT_EQ(result.violations.front().faults, 0) << "beside those of the schedule";
  const Counterexample found = CounterexampleOf(model, result.violations.front());
  EXPECT_TRUE(found.is_confirmed) << found.run.schedule_problem;
  EXPECT_EQ(FaultWords(found.scenario), "pause_and_crash");
  EXPECT_GT(found.scenario.schedule.size(), scenario.schedule.size());
}

TEST(SchedulePrefix, NamesTheEntryThatCannotHappen) {
  Scenario scenario = Incident();
  std::swap(scenario.schedule[2], scenario.schedule[3]);  // a reply before its call
  const SchedulePrefix prefix = PrefixOf(ModelOf(scenario), scenario);
  EXPECT_EQ(prefix.moves.size(), 2U);
  EXPECT_THAT(prefix.problem, HasSubstr("reply_arrives"));
  EXPECT_THAT(prefix.problem, HasSubstr("what can happen there: "));
}

TEST(SchedulePrefix, RefusesATimeAtWhichTheSearchDoesNotStop) {
  Scenario scenario = Incident();
  scenario.schedule[5].at = Instant{} + Milliseconds(250);
  EXPECT_THAT(PrefixOf(ModelOf(scenario), scenario).problem, HasSubstr("no choice of the search"));
}

}  // namespace
}  // namespace whorl::sim::prefix_test
