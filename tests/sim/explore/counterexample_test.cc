// What a search finds becomes a scenario file, which can be replayed.
#include "sim/explore/counterexample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sim/explore/engine/search.h"
#include "sim/explore/prefix.h"
#include "sim/judge/checkers/setup.h"
#include "sim/judge/expectations.h"
#include "sim/scenario/loader.h"
#include "sim/scenario/writer.h"

namespace whorl::sim::counterexample_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

struct Space {
  ExploreWorld world;
  ExploreBounds bounds;
};

Space SpaceOf(const std::string& protocol, FaultBudget faults, Duration horizon) {
  Space space;
  space.world.protocol = protocol;
  space.world.lease = Seconds(5);
  space.bounds = {.faults = faults,
                  .grid = space.world.lease / 4,
                  .longest_pause = space.world.lease * 3,
                  .horizon = horizon};
  return space;
}

// The scenario, written to a file and loaded from it.
Scenario Reloaded(const Scenario& scenario) {
  const absl::StatusOr<Scenario> loaded = ParseScenario(ScenarioText(scenario), "x.json");
  EXPECT_TRUE(loaded.ok()) << loaded.status().message() << ScenarioText(scenario);
  return loaded.ok() ? *loaded : scenario;
}

// Each violation that a search finds in the space is written, loaded, run and as expected.
void ExpectReplayable(const Space& space, std::set<Invariant> wanted) {
  const LockModel model(space.world, space.bounds);
  const auto result = explore::Explore(model, {.max_bytes = 600U << 20});
  for (const auto& violation : result.violations) {
    const Counterexample found = CounterexampleOf(model, violation);
    const auto invariant = static_cast<Invariant>(violation.property);
    EXPECT_TRUE(found.is_confirmed)
        << WordOf(invariant) << ": " << found.run.schedule_problem << ScenarioText(found.scenario);
    const Scenario loaded = Reloaded(found.scenario);
    EXPECT_EQ(WithoutPlace(loaded), WithoutPlace(found.scenario));
    const RunResult run = RunScenario(loaded, loaded.seed, nullptr);
    EXPECT_EQ(run.hash, found.run.hash) << "the same run to the byte";
    EXPECT_THAT(FailuresOf(loaded, run), IsEmpty());
    EXPECT_GT(run.checks[invariant].violations, 0);
    wanted.erase(invariant);
  }
  EXPECT_THAT(wanted, IsEmpty());
}

TEST(Counterexample, WithoutAFaultIsTheSameRunAsAScenario) {
  ExpectReplayable(SpaceOf("spindle_v2", {}, Seconds(10)), {Invariant::kLeaseRespected});
}

TEST(Counterexample, OfEachKindOfFaultIsTheSameRunAsAScenario) {
  ExpectReplayable(SpaceOf("spindle_v3", {.pauses = 1}, Seconds(10)),
                   {Invariant::kSingleLeaderBelief, Invariant::kHasLockTruthful});
  ExpectReplayable(SpaceOf("spindle_v3", {.deletes = 1}, Seconds(10)),
                   {Invariant::kSingleLeaderBelief});
  Space grid = SpaceOf("spindle_v3", {.pauses = 1}, Seconds(8));
  grid.world.grid_constants = true;
  ExpectReplayable(grid, {Invariant::kSingleLeaderBelief, Invariant::kHasLockTruthful});
  Space stop = SpaceOf("lease_lock", {.stops = 1}, Seconds(12));
  stop.world.grid_constants = true;
  ExpectReplayable(stop, {Invariant::kSingleWorker});
  ExpectReplayable(SpaceOf("semaphore", {.losses = 1}, Seconds(7)),
                   {Invariant::kSingleLeaderBelief});
}

// A machine is suspended for as long as its clock stands still, in a file by one fault with both.
TEST(Counterexample, OfAStandingClockIsTheSameRunAsAScenario) {
  Space space = SpaceOf("fenced_lease", {.standing_clocks = 1}, Seconds(14));
  space.world.grid_constants = true;
  ExpectReplayable(space, {Invariant::kSingleLeaderBelief, Invariant::kHandedTokenMonotonic});
  const LockModel model(space.world, space.bounds);
  constexpr uint32_t kWatched = 1U << static_cast<uint32_t>(Invariant::kSingleLeaderBelief);
  const auto result = explore::Explore(model, {.watched = kWatched});
  ASSERT_EQ(result.violations.size(), 1U);
  const Counterexample found = CounterexampleOf(model, result.violations.front());
  ASSERT_EQ(found.scenario.faults.size(), 1U);
  const auto* clock = found.scenario.faults.front().As<ClockFault>();
  ASSERT_NE(clock, nullptr);
  EXPECT_TRUE(clock->stands);
  EXPECT_LT(*clock->lasts, space.bounds.longest_pause) << "as long as it needs";
  EXPECT_EQ(found.run.checks[Invariant::kSingleLeaderBelief].promise, Promise::kNotPromised);
  const SchedulePrefix prefix = PrefixOf(model, found.scenario);
  EXPECT_EQ(prefix.problem, "");
  EXPECT_EQ(prefix.moves, result.violations.front().path.choices);
}

// The file says where Spanner's clocks stood, and at which rates the processes' clocks ran.
TEST(Counterexample, WithClocksThatAreOffIsTheSameRunAsAScenario) {
  Space space = SpaceOf("spindle_v3", {}, Seconds(12));
  space.bounds.clocks = {.truetime = Microseconds(100), .current_timestamp = Seconds(4)};
  ExpectReplayable(space, {Invariant::kLeaseRespected, Invariant::kSingleLeaderBelief});
}

TEST(Counterexample, SaysOnlyWhatMattersOfClocks) {
  Space space = SpaceOf("spindle_v3", {}, Seconds(12));
  space.bounds.clocks.current_timestamp = Seconds(4);
  const LockModel model(space.world, space.bounds);
  const auto result =
      explore::Explore(model, {.watched = 1U << static_cast<uint32_t>(Invariant::kLeaseRespected)});
  ASSERT_EQ(result.violations.size(), 1U);
  const Counterexample found = CounterexampleOf(model, result.violations.front());
  ASSERT_TRUE(found.is_confirmed);
  int ahead = 0;
  for (const ScheduleEntry& entry : found.scenario.schedule) {
    EXPECT_EQ(entry.clocks.truetime, std::nullopt);
    if (!entry.clocks.current_timestamp) continue;
    EXPECT_EQ(entry.clocks.current_timestamp, Seconds(4));
    EXPECT_EQ(entry.event, ScheduledEvent::kCallArrives);
    ++ahead;
  }
  EXPECT_GE(ahead, 1);
  EXPECT_LE(ahead, 3);
  EXPECT_EQ(PromisesThroughout(found.scenario)[static_cast<size_t>(Invariant::kLeaseRespected)],
            Promise::kNotPromised);
  Scenario exact = found.scenario;
  for (ScheduleEntry& entry : exact.schedule) entry.clocks = {};
  const RunResult run = RunScenario(exact, exact.seed, nullptr);
  EXPECT_EQ(run.checks[Invariant::kLeaseRespected].violations, 0) << "the clock is the cause";
}

// The search's clock stands still within an instant; a look of Spanner that only this makes necessary
// is no reason to doubt the rest.
TEST(Counterexample, LooksOfSpannerThatAreNeedlessInExactTimeAreLeftOut) {
  Space space = SpaceOf("fenced_lease", {.deletes = 1}, Seconds(10));
  space.world.grid_constants = true;
  ExpectReplayable(space, {Invariant::kHasLockTruthful});
}

// Grid constants are no property of the search, but of the scenario: without them this run is another.
TEST(Counterexample, KeepsTheConstants) {
  Space space = SpaceOf("fenced_lease", {.deletes = 1}, Seconds(10));
  space.world.grid_constants = true;
  const LockModel model(space.world, space.bounds);
  const auto result = explore::Explore(model);
  ASSERT_FALSE(result.violations.empty());
  const Counterexample found = CounterexampleOf(model, result.violations.front());
  EXPECT_THAT(ScenarioText(found.scenario), HasSubstr("\n  \"constants\": \"grid\",\n"));
  Scenario shipped = found.scenario;
  shipped.constants = Constants::kShipped;
  EXPECT_NE(RunScenario(shipped, shipped.seed, nullptr).hash, found.run.hash);
}

TEST(Counterexample, IsNamedByWhatBrokeAndByItsFaults) {
  const Space space = SpaceOf("spindle_v3", {.pauses = 1}, Seconds(10));
  const LockModel model(space.world, space.bounds);
  const auto result = explore::Explore(
      model, {.watched = 1U << static_cast<uint32_t>(Invariant::kSingleLeaderBelief)});
  ASSERT_EQ(result.violations.size(), 1U);
  const Scenario scenario = CounterexampleOf(model, result.violations.front()).scenario;
  EXPECT_EQ(scenario.name, "spindle_v3.single_leader_belief.belief_changed.pause");
  EXPECT_THAT(scenario.about, StartsWith("Found by whorl explore, with 1 fault and "));
  EXPECT_THAT(scenario.about, HasSubstr(" single_leader_belief is violated at "));
  // The pause has the length that it had, and not the longest that the search allows.
  ASSERT_EQ(scenario.faults.size(), 1U);
  EXPECT_LT(*LastsOf(scenario.faults.front().what), Seconds(10));
}

// A crash or a stop after which the process starts again is one fault for a reader, though two choices.
void ExpectOneFaultWithItsRestart(FaultBudget faults) {
  const Space space = SpaceOf("fenced_lease", faults, Seconds(10));
  const LockModel model(space.world, space.bounds);
  explore::Violation<Move> path;  // of a run that violates nothing
  path.property = static_cast<int>(Invariant::kOneLiveToken);
  LockModel::State state = model.Initial().front();
  const auto take = [&](auto wanted) {
    std::optional<Move> chosen;
    model.ForEachChoice(state, [&](const Move& move, int) {
      if (!chosen && wanted(move)) chosen = move;
    });
    ASSERT_TRUE(chosen.has_value());
    LockModel::State next;
    model.Take(state, *chosen, next);
    state = std::move(next);
    path.path.choices.push_back(*chosen);
  };
  const auto starts = [](const Move& move) {
    return move.kind == MoveKind::kEvent && std::holds_alternative<NodeStarts>(move.event.event);
  };
  const auto is_fault = [&](const Move& move) { return move.kind == MoveKind::kFault; };
  const auto is_advance = [](const Move& move) { return move.kind == MoveKind::kAdvance; };
  take(starts);
  take(is_fault);  // strikes the only process
  take(starts);    // the other one
  take([](const Move& move) { return move.kind == MoveKind::kEvent; });
  take([](const Move& move) { return move.kind == MoveKind::kEvent; });
  while (state->world.now() == Instant{}) {
    bool can_advance = false;
    model.ForEachChoice(state, [&](const Move& move, int) { can_advance |= is_advance(move); });
    if (can_advance) {
      take(is_advance);
    } else {
      take([](const Move& move) { return move.kind == MoveKind::kEvent; });
    }
  }
  take(is_fault);  // the node starts again
  const Counterexample found = CounterexampleOf(model, path);
  EXPECT_THAT(found.run.schedule_problem, IsEmpty());
  EXPECT_FALSE(found.is_confirmed);
  ASSERT_EQ(found.scenario.faults.size(), 1U);
  EXPECT_EQ(*RestartAfterOf(found.scenario.faults.front().what), state->world.now() - Instant{});
  EXPECT_EQ(WithoutPlace(Reloaded(found.scenario)), WithoutPlace(found.scenario));
  const SchedulePrefix prefix = PrefixOf(model, found.scenario);
  EXPECT_EQ(prefix.problem, "");
  EXPECT_EQ(prefix.moves, path.path.choices);
}

TEST(Counterexample, ACrashHasItsRestart) { ExpectOneFaultWithItsRestart({.crashes = 1}); }
TEST(Counterexample, AStopHasItsRestart) { ExpectOneFaultWithItsRestart({.stops = 1}); }

// A kind that needs a fault more than another one of the same invariant and step is none of its own.
TEST(Counterexample, NeedsLessIfItHasAPartOfTheFaults) {
  Counterexample pause = {.where = "write"};
  pause.scenario.faults.push_back({.what = PauseFault{}});
  Counterexample both = pause;
  both.scenario.faults.push_back({.what = CrashFault{}});
  Counterexample crash = {.where = "write"};
  crash.scenario.faults.push_back({.what = CrashFault{}});
  EXPECT_TRUE(NeedsLess(pause, both));
  EXPECT_TRUE(NeedsLess(crash, both));
  EXPECT_FALSE(NeedsLess(both, pause));
  EXPECT_FALSE(NeedsLess(pause, crash));
  EXPECT_FALSE(NeedsLess(pause, pause));
  pause.where = "beat";
  EXPECT_FALSE(NeedsLess(pause, both));
}

}  // namespace
}  // namespace whorl::sim::counterexample_test
