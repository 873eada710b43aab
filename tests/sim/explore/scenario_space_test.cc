// What a search takes from a scenario.
#include "sim/explore/scenario_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <variant>

#include "sim/explore/engine/search.h"
#include "sim/explore/lock_model.h"
#include "sim/scenario/loader.h"

namespace whorl::sim::scenario_space_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

Scenario Loaded(const std::string& nodes, const std::string& faults) {
  const absl::StatusOr<Scenario> scenario = ParseScenario(
      R"({ "version": 1, "about": "x", "protocol": "spindle_v3", "lease": "5s", "duration": "60s",
           "nodes": )" +
          nodes + R"(, "faults": [ )" + faults + " ] }",
      "x.json");
  EXPECT_TRUE(scenario.ok()) << scenario.status().message();
  return *scenario;
}

TEST(ScenarioSpace, CountsFaultsByKindAndNamesTheirNodes) {
  const ScenarioSpace space = SpaceOf(Loaded(R"([ "a", "b" ])", R"(
      { "at": "1s", "do": "pause", "node": "a", "for": "2s" },
      { "at": "9s", "do": "pause", "node": "a", "for": "7s" },
      { "at": "1s", "do": "crash", "node": "leader" },
      { "at": "1s", "do": "stop", "node": "b", "restart_after": "2s" },
      { "at": "1s", "do": "announce", "node": "a" },
      { "at": "1s", "do": "clock", "node": "b", "stands": true, "for": "8s" },
      { "at": "1s", "do": "drop_reply", "node": "b" },
      { "at": "1s", "do": "delete_row" })"));
  EXPECT_THAT(space.errors, IsEmpty());
  EXPECT_EQ(space.faults, (FaultBudget{.crashes = 1,
                                       .stops = 1,
                                       .pauses = 2,
                                       .losses = 1,
                                       .deletes = 1,
                                       .announcements = 1,
                                       .standing_clocks = 1}));
  EXPECT_EQ(space.longest_pause, Seconds(8)) << "or longest standing clock";
  EXPECT_THAT(space.menu.pauses, Optional(ElementsAre(0, 0)));
  EXPECT_THAT(space.menu.crashes, Optional(ElementsAre(0, 1))) << "whoever leads";
  EXPECT_THAT(space.menu.stops, Optional(ElementsAre(1)));
  EXPECT_THAT(space.menu.announcements, Optional(ElementsAre(0)));
  EXPECT_THAT(space.menu.standing_clocks, Optional(ElementsAre(1)));
  EXPECT_THAT(space.menu.lost_requests, Optional(IsEmpty())) << "only a reply may be lost";
  EXPECT_THAT(space.menu.lost_replies, Optional(ElementsAre(1)));
  EXPECT_EQ(space.menu.aborts, std::nullopt);
  EXPECT_THAT(space.scenario.faults, IsEmpty());
}

// A node that only a fault starts would never take part.
TEST(ScenarioSpace, TakesTheTimeOfAStart) {
  const std::string nodes = R"([ "a", { "name": "late", "start_at": "never" } ])";
  const ScenarioSpace timed =
      SpaceOf(Loaded(nodes, R"({ "at": "3s", "do": "start", "node": "late" })"));
  EXPECT_THAT(timed.errors, IsEmpty());
  EXPECT_EQ(timed.scenario.nodes[1].start_at, Instant{} + Seconds(3));
  const ScenarioSpace waits = SpaceOf(Loaded(nodes, R"(
      { "when": { "node": "a", "step": "look", "phase": "sent" }, "do": "start", "node": "late" })"));
  EXPECT_EQ(waits.errors.size(), 1U);
}

// A model that notes whom its faults strike.
struct Watching {
  using State = LockModel::State;
  using Choice = Move;
  const LockModel& model;
  std::set<std::string>& struck;
  auto Initial() { return model.Initial(); }
  template <typename Visit>
  void ForEachChoice(const State& state, const Visit& visit) {
    model.ForEachChoice(state, [&](const Move& move, int faults) {
      if (faults > 0) {
        const FaultSpec& fault = model.scenario().faults[move.fault];
        struck.insert(std::string(FaultKindText(fault.kind())) + " " + std::to_string(fault.node));
      }
      visit(move, faults);
    });
  }
  bool Take(const State& from, const Move& move, State& to) { return model.Take(from, move, to); }
  explore::Key128 Fingerprint(const State& state) { return model.Fingerprint(state); }
  uint32_t Judge(const State& state) { return model.Judge(state); }
};

// A menu that lets others be struck would find what cannot happen in the scenario.
TEST(ScenarioSpace, OnlyThoseOnTheMenuAreStruck) {
  const ScenarioSpace space =
      SpaceOf(Loaded(R"([ "a", "b" ])", R"({ "at": "1s", "do": "crash", "node": "b" },
                                   { "at": "1s", "do": "stop", "node": "a" },
                                   { "at": "1s", "do": "drop_request", "node": "a" })"));
  ExploreBounds bounds = {.faults = space.faults,
                          .grid = Milliseconds(1'250),
                          .longest_pause = Seconds(15),
                          .horizon = Seconds(3),
                          .menu = space.menu};
  const LockModel model(space.scenario, bounds);
  std::set<std::string> struck;
  Watching watching = {.model = model, .struck = struck};
  Watching* models[] = {&watching};
  explore::Explore<Watching>(models);
  EXPECT_THAT(struck, ElementsAre("crash 1", "drop_request 0", "stop 0"));
}

}  // namespace
}  // namespace whorl::sim::scenario_space_test
