// no_wedge over every run: the findings about it, and a protocol that keeps its promise.
#include "sim/explore/wedge.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "protocol/protocols.h"
#include "sim/explore/counterexample.h"
#include "sim/explore/engine/checkpoint.h"
#include "sim/explore/lock_model.h"
#include "sim/explore/scenario_space.h"
#include "sim/scenario/loader.h"
#include "tests/sim/explore/follow.h"
#include "tests/sim/explore/lasso_testing.h"

namespace whorl::sim::explore_wedge_test {
namespace {

LockModel ModelOf(const std::string& protocol, const FaultBudget& faults, int processes) {
  ExploreWorld world;
  world.protocol = protocol;
  world.processes = processes;
  world.grid_constants = true;
  world.lease = Seconds(4);
  ExploreBounds bounds;
  bounds.faults = faults;
  bounds.grid = world.lease / 4;
  bounds.longest_pause = world.lease;
  return {world, bounds};
}

// Without its only row, the semaphore updates nothing for ever.
TEST(ExploreWedge, FindsThatNobodyInsertsTheDeletedRowOfTheSemaphore) {
  const LockModel model = ModelOf("semaphore", {.deletes = 1}, 1);
  const auto result = FindWedge(model, {.max_faults = 1});
  ASSERT_TRUE(result.lasso.has_value());
  EXPECT_EQ(result.lasso->faults, 1);
  EXPECT_FALSE(result.lasso->loop.empty());
}

TEST(ExploreWedge, FencedLeaseIsNeverWedged) {
  for (const FaultBudget& faults : {FaultBudget{}, FaultBudget{.losses = 1}, {.deletes = 1}}) {
    const auto result = FindWedge(ModelOf("fenced_lease", faults, 2), {});
    EXPECT_EQ(result.search.ending, explore::Ending::kComplete);
    EXPECT_FALSE(result.lasso.has_value());
    EXPECT_GT(result.bad_states, 10U) << "there are times without a holder";
  }
}

explore::LassoResult<Move> WedgeInPieces(const LockModel& model, int rounds, int& times) {
  const auto search = [&model](const explore::SearchOptions& options,
                               const explore::SaveLasso& save,
                               std::optional<explore::Checkpoint> from) {
    return FindWedge(model, options, save, std::move(from));
  };
  return explore::InPieces(search, rounds, 2, 100, times);
}

// Of worlds: the same by one thread, by two, and by both in pieces.
TEST(ExploreWedge, ThreadsAndPiecesFindWhatOneThreadFinds) {
  for (const LockModel& model :
       {ModelOf("semaphore", {.deletes = 1}, 1), ModelOf("fenced_lease", {.deletes = 1}, 2)}) {
    SCOPED_TRACE(model.scenario().protocol);
    const auto one = FindWedge(model, {});
    int times = 0;
    explore::ExpectSame(FindWedge(model, {.jobs = 2, .round = 50}), one);
    explore::ExpectSame(WedgeInPieces(model, 5, times), one);
    EXPECT_GT(times, 2);
  }
}

// spindle_v2 with one process, whose row is there at the start: of a process that is gone. That leaves
// the first half of S3 and S6 out, in which a process takes the lock and crashes; with it, a search
// takes many times as long.
LockModel AfterTheOwner(const std::string& fault) {
  const absl::StatusOr<Scenario> scenario = ParseScenario(
      R"({ "version": 1, "about": "x", "protocol": "spindle_v2", "constants": "grid", "lease": "4s",
           "nodes": [ { "name": "b", "use": "callback" } ],
           "rows": [ { "name": "lock", "heartbeat": "-1m", "token": "-1m", "writer": "a" } ],
           "duration": "1m",
           "spanner": { "truetime": { "epsilon": "0s" } },
           "network": { "connection_timeout": "4s" },
           "workload": { "write_every": "4s", "work_for": "0s", "resource": "fenced" },
           "faults": [ )" +
          fault + " ] }",
      "x.json");
  EXPECT_TRUE(scenario.ok()) << scenario.status().message();
  const ScenarioSpace space = SpaceOf(*scenario);
  EXPECT_TRUE(space.errors.empty());
  return {space.scenario,
          {.faults = space.faults, .grid = Seconds(1), .longest_pause = {}, .menu = space.menu}};
}

// All commits of an instant lie ahead of the search's clock. spindle_v2 writes the timestamp of one
// into a column that refuses the future, and was wedged by that.
TEST(ExploreWedge, OneCrashOfTheOnlyProcessWedgesNobody) {
  const auto result = FindWedge(ModelOf("spindle_v2", {.crashes = 1}, 1), {});
  EXPECT_EQ(result.search.ending, explore::Ending::kComplete);
  EXPECT_FALSE(result.lasso.has_value());
}

// The stem in exact time, and on from there: nobody ever takes the lock. The loop comes back.
void ExpectConfirmed(const LockModel& model, const explore::LassoResult<Move>& result) {
  ASSERT_EQ(result.search.ending, explore::Ending::kComplete);
  ASSERT_TRUE(result.lasso.has_value());
  EXPECT_EQ(result.lasso->faults, 1);
  const Counterexample found =
      CounterexampleOf(model, {.property = static_cast<int>(Invariant::kNoWedge),
                               .faults = result.lasso->faults,
                               .path = result.lasso->stem});
  EXPECT_TRUE(found.is_confirmed) << found.run.schedule_problem;
  auto entry = explore::Follow(model, result.lasso->stem);
  ASSERT_TRUE(entry.has_value());
  LockModel::State state = entry->state;
  for (const Move& move : result.lasso->loop) {
    LockModel::State next;
    ASSERT_TRUE(model.Take(state, move, next));
    EXPECT_EQ(next->checkers.ledger().AnsweredCount(0), 0);
    state = std::move(next);
  }
  EXPECT_EQ(model.Fingerprint(state), model.Fingerprint(entry->state));
}

bool Visits(const explore::Path<Move>& path, const LockModel& model, const std::string& row) {
  LockModel::State state = model.Initial().front();
  for (const Move& move : path.choices) {
    LockModel::State next;
    EXPECT_TRUE(model.Take(state, move, next));
    state = std::move(next);
  }
  const model::StoredTable& table = state->world.state().database.tables.front();
  return model::FindNewest(table, {row}) != nullptr;
}

// S3: the takeover row of a process that died before its UPDATE blocks everybody, itself when it
// starts again included.
TEST(ExploreWedge, FindsTheTakeoverRowThatBlocksEverybody) {
  const LockModel model = AfterTheOwner(R"({ "at": "1s", "do": "crash", "node": "b" })");
  const auto result = FindWedge(model, {});
  ExpectConfirmed(model, result);
  EXPECT_TRUE(Visits(result.lasso->stem, model, "lock")) << "the lock's row is there";
}

// S6: the row is gone, and who may not insert it notes that it got the lock.
TEST(ExploreWedge, FindsTheRowThatNobodyMayInsert) {
  const LockModel model = AfterTheOwner(R"({ "at": "1s", "do": "delete_row", "lock": "lock" })");
  const auto result = FindWedge(model, {});
  ExpectConfirmed(model, result);
  EXPECT_FALSE(Visits(result.lasso->stem, model, "lock"));
  EXPECT_TRUE(Visits(result.lasso->stem, model, "lock_17241709254077376921"))
      << "the takeover row of no token";
}

}  // namespace
}  // namespace whorl::sim::explore_wedge_test
