// Waypoints: a run passes them in their order, whichever process leads.

#include "sim/judge/waypoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/judge/run.h"
#include "sim/scenario/loader.h"
#include "sim/scenario/writer.h"

namespace whorl::sim::waypoints_test {
namespace {

using testing::HasSubstr;

// a leads, and is paused for longer than its lease; b takes over.
std::string TextWith(const std::string& reach) {
  return R"({
    "version": 1, "about": "x", "protocol": "spindle_v2", "lease": "5s",
    "nodes": [ "a", { "name": "b", "start_at": "2s" } ], "duration": "60s",
    "faults": [ { "at": "20s", "do": "pause", "node": "a", "for": "25s" } ],
    "expect": { "reach": )" +
         reach + " } }";
}

uint32_t ReachedOf(const std::string& reach) {
  const auto scenario = ParseScenario(TextWith(reach), "x.json");
  EXPECT_TRUE(scenario.ok()) << scenario.status().message();
  const Scenario again = *ParseScenario(ScenarioText(*scenario), "y.json");
  EXPECT_EQ(WithoutPlace(again), WithoutPlace(*scenario));
  return RunScenario(*scenario, 1, nullptr).reached;
}

std::string ErrorOf(const std::string& reach) {
  return std::string(ParseScenario(TextWith(reach), "x.json").status().message());
}

TEST(Waypoints, AreReachedInTheirOrderAlone) {
  EXPECT_EQ(ReachedOf(R"(["a paused", "takeover_insert replied", "a resumed"])"), 3u);
  EXPECT_EQ(ReachedOf(R"(["takeover_insert replied", "a paused"])"), 1u);
  EXPECT_EQ(ReachedOf(R"(["a resumed", "takeover_insert replied"])"), 1u);
  EXPECT_EQ(ReachedOf(R"(["b paused"])"), 0u);
}

// "leader" and "old leader" are right whichever process leads first, where a name is not.
TEST(Waypoints, KnowTheLeaderAndTheOneBefore) {
  EXPECT_EQ(ReachedOf(R"(["leader paused", "b takeover_insert served", "old leader resumed"])"),
            3u);
  EXPECT_EQ(ReachedOf(R"(["old leader paused"])"), 0u);
  EXPECT_EQ(ReachedOf(R"(["leader resumed"])"), 0u);  // b leads by then
  EXPECT_EQ(ReachedOf(R"(["old leader takeover_insert sent"])"), 0u);
}

// The words are those of `when`, and mean the same: else a waypoint is accepted that no run can reach.
TEST(Waypoints, AreReachedWhereAFaultThatWaitsForThemStrikes) {
  // A statement within another step ends with its own reply.
  EXPECT_EQ(ReachedOf(R"(["heartbeat_delete sent", "heartbeat_delete ended"])"), 2u);
  EXPECT_EQ(ReachedOf(R"(["b has_lock ended", "a has_lock replied"])"), 2u);
  const auto local = ParseScenario(R"({
    "version": 1, "about": "x", "protocol": "fenced_lease", "nodes": [ "a" ], "duration": "20s",
    "expect": { "reach": [ "create sent", "beat served", "beat committed", "a has_lock ended" ] } })",
                                   "x.json");
  ASSERT_TRUE(local.ok()) << local.status().message();
  EXPECT_EQ(RunScenario(*local, 1, nullptr).reached, 4u);
}

TEST(Waypoints, ThatCannotBeMeantAreRefusedWhereTheyStand) {
  EXPECT_THAT(ErrorOf(R"(["takeover_insrt replied"])"),
              HasSubstr("did you mean \"takeover_insert\"?"));
  EXPECT_THAT(ErrorOf(R"(["takeover_insert replied", "c paused"])"),
              HasSubstr("x.json:5: /expect/reach/1: unknown node \"c\""));
  EXPECT_THAT(ErrorOf(R"(["takeover_insert"])"), HasSubstr("expected a phase of a step"));
  EXPECT_THAT(ErrorOf(R"(["replied"])"), HasSubstr("expected a step before \"replied\""));
  EXPECT_THAT(ErrorOf(R"(["write committed"])"), HasSubstr("can never be reached"));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("expected at least one waypoint"));
}

}  // namespace
}  // namespace whorl::sim::waypoints_test
