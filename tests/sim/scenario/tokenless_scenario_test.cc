// What the scenario language says of protocols without tokens, and runs of them that no scenario
// file shows as sharply.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/judge/run.h"
#include "sim/scenario/loader.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::tokenless_scenario_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string Text(const std::string& protocol, const std::string& more,
                 const std::string& lease = "5s") {
  return R"({"version": 1, "about": "x", "protocol": ")" + protocol + R"(", "lease": ")" + lease +
         R"(", "nodes": ["a", {"name": "b", "start_at": "1s"}], "duration": "1m")" + more + "}";
}

std::string ErrorOf(const std::string& text) {
  const auto scenario = ParseScenario(text, "x.json");
  return scenario.ok() ? "" : std::string(scenario.status().message());
}

// --- what is bad input -------------------------------------------------------------------------

TEST(TokenlessScenarioTest, TheSemaphoresTimeoutIsAtLeastTwiceItsPeriod) {
  // The article's limit: with less, a healthy leader is overtaken between two of its updates.
  EXPECT_THAT(ErrorOf(Text("semaphore", "", "1.9s")),
              HasSubstr("x.json:1: /lease: a lease of semaphore is at least 2s, got 1.9s"));
  EXPECT_EQ(ErrorOf(Text("semaphore", "", "2s")), "");
  EXPECT_THAT(ErrorOf(Text("lease_lock", "", "900ms")),
              HasSubstr("/lease: a lease of lease_lock is at least 1s, got 900ms"));
  EXPECT_EQ(ErrorOf(Text("spindle_v2", "", "900ms")), "") << "there it is raised";
}

TEST(TokenlessScenarioTest, TheSemaphoreTakesOneLock) {
  // Its statements name one anchor.
  EXPECT_THAT(ErrorOf(Text("semaphore", R"(, "locks": ["x", "y"])")),
              HasSubstr("/locks: semaphore has one row and takes one lock, got 2"));
  EXPECT_EQ(ErrorOf(Text("semaphore", R"(, "locks": ["x"])")), "");
  EXPECT_EQ(ErrorOf(Text("lease_lock", R"(, "locks": ["x", "y"])")), "");
}

TEST(TokenlessScenarioTest, NothingFencesWithoutTokens) {
  for (const std::string protocol : {"semaphore", "lease_lock"}) {
    EXPECT_THAT(ErrorOf(Text(protocol, R"(, "workload": {"resource": "fenced"})")),
                HasSubstr("/workload/resource: " + protocol + " hands out no tokens"));
    EXPECT_EQ(ErrorOf(Text(protocol, R"(, "workload": {"resource": "unfenced"})")), "");
  }
}

TEST(TokenlessScenarioTest, ARowOfTheSemaphoreIsNamedByANumber) {
  const auto deletes = [](const std::string& row) {
    return Text("semaphore",
                R"(, "faults": [{"at": "1s", "do": "delete_row", "row": ")" + row + R"("}])");
  };
  EXPECT_THAT(ErrorOf(deletes("job")),
              HasSubstr("/faults/0/row: expected an integer: the key of semaphore's rows"));
  EXPECT_EQ(ErrorOf(deletes("1")), "");
  EXPECT_EQ(ErrorOf(deletes("lock")), "") << "the name of the lock stands for its row";
}

// --- rows of the start -------------------------------------------------------------------------

std::vector<Row> RowsOfTheStart(const std::string& text) {
  std::vector<Row> rows;
  for (const Observation& observation : Watch(ScenarioOf(text)).observations) {
    const auto* row = std::get_if<RowCommitted>(&observation.what);
    if (row != nullptr && row->writer == ProcessId{}) rows.push_back(*row->after);
  }
  return rows;
}

TEST(TokenlessScenarioTest, TheSemaphoresRowIsThereUnlessTheScenarioGivesAnother) {
  // No process makes it, so without `init` nobody would ever lead.
  const std::vector<Row> init = RowsOfTheStart(Text("semaphore", ""));
  ASSERT_THAT(init, SizeIs(1));
  EXPECT_EQ(init[0][1], Value(std::string("nobody")));
  const std::vector<Row> given = RowsOfTheStart(Text(
      "semaphore", R"(, "rows": [{"anchor": 1, "service_id": "z", "last_seen_active": "-3s"}])"));
  ASSERT_THAT(given, SizeIs(1));
  EXPECT_EQ(given[0][1], Value(std::string("z")));
  EXPECT_THAT(RowsOfTheStart(Text("semaphore", R"(, "rows": [{"anchor": 7}])")), SizeIs(2));
  EXPECT_THAT(RowsOfTheStart(Text("lease_lock", "")), IsEmpty());
}

TEST(TokenlessScenarioTest, ALiveRowOfTheStartIsWaitedFor) {
  const Witness witness = Watch(ScenarioOf(Text(
      "semaphore", R"(, "rows": [{"anchor": 1, "service_id": "z", "last_seen_active": "-1s"}])")));
  const std::vector<Instant> beliefs = witness.When<BeliefChanged>();
  ASSERT_THAT(beliefs, SizeIs(1));
  EXPECT_GT(beliefs[0], At(Seconds(4)));
  EXPECT_LT(beliefs[0], At(Milliseconds(5'200)));
}

// --- runs --------------------------------------------------------------------------------------

TEST(TokenlessScenarioTest, WritesGoToTheResourceThatDoesNotFence) {
  // What cannot fence must not be counted as having refused.
  const Witness witness = Watch(ScenarioOf(Text("lease_lock", "")));
  EXPECT_THAT(witness.When<WriteArrived>([](const WriteArrived& x) { return x.fenced; }),
              IsEmpty());
  EXPECT_GT(witness.When<WriteArrived>().size(), 50U);
  EXPECT_EQ(witness.result.checks.metrics[Metric::kLegitimateWriteRefused], 0);
}

std::vector<std::pair<Instant, bool>> BeliefsOfA(const std::string& clock_faults) {
  const Witness witness = Watch(ScenarioOf(Text(
      "lease_lock",
      R"(, "faults": [{"at": "20s", "do": "partition", "node": "a"}, )" + clock_faults + "]")));
  std::vector<std::pair<Instant, bool>> beliefs;
  for (const Observation& observation : witness.observations) {
    const auto* changed = std::get_if<BeliefChanged>(&observation.what);
    if (changed == nullptr || changed->process.node != 0) continue;
    beliefs.emplace_back(observation.at, changed->believes);
  }
  return beliefs;
}

TEST(TokenlessScenarioTest, ABeliefByTheWallClockEndsAtOnceWhenThatIsSetBeyondIt) {
  const auto beliefs = BeliefsOfA(R"({"at": "20.2s", "do": "clock", "node": "a", "step": "10s"})");
  ASSERT_THAT(beliefs, SizeIs(2));
  EXPECT_EQ(beliefs[1], std::pair(At(Milliseconds(20'200)), false));
}

TEST(TokenlessScenarioTest, ABeliefByTheWallClockLastsLongerWhenThatIsSetBack) {
  // Cut off at 20 s, it would end within a lease.
  const auto beliefs = BeliefsOfA(R"({"at": "20.2s", "do": "clock", "node": "a", "step": "-6s"})");
  ASSERT_THAT(beliefs, SizeIs(2));
  EXPECT_GT(beliefs[1].first, At(Seconds(29)));
  EXPECT_LT(beliefs[1].first, At(Seconds(32)));
  EXPECT_FALSE(beliefs[1].second);
}

// Nothing that is promised may be violated, whatever the seed.
// Many faults at once, of every kind that both promise to stand.
constexpr const char* kBadWeather = R"(, "network": {"connection_timeout": "2s"}, "faults": [
    {"at": "4s", "do": "pause", "node": "a", "for": "7s"},
    {"at": "9s", "do": "partition", "node": "b", "for": "3s"},
    {"at": "12s", "do": "abort", "node": "b", "percent": 60, "for": "8s"},
    {"at": "20s", "do": "partition", "node": "*", "direction": "from", "for": "4s"},
    {"at": "26s", "do": "crash", "node": "b", "restart_after": "1s"},
    {"at": "28s", "do": "stop", "node": "a", "restart_after": "2s"},
    {"at": "31s", "do": "unavailable", "for": "4s"}])";

TEST(TokenlessScenarioTest, SemaphoreKeepsItsPromisesInBadWeather) {
  ExpectPromisesKept(Text("semaphore", kBadWeather), 60);
}

TEST(TokenlessScenarioTest, LeaseLockKeepsItsPromisesInBadWeather) {
  ExpectPromisesKept(Text("lease_lock", kBadWeather), 60);
}

TEST(TokenlessScenarioTest, LeaseLockStandsClocksThatAreApartByLessThanItsGrace) {
  for (const std::string offsets : {"2s\"}}, {\"name\": \"b\", \"clock\": {\"offset\": \"-2s",
                                    "-2s\"}}, {\"name\": \"b\", \"clock\": {\"offset\": \"2s"}) {
    ExpectPromisesKept(
        R"({"version": 1, "about": "x", "protocol": "lease_lock", "lease": "1s", "duration": "1m",
            "nodes": [{"name": "a", "clock": {"offset": ")" +
            offsets +
            R"("}}], "faults": [{"at": "10s", "do": "crash", "node": "a", "restart_after": "15s"},
                                {"at": "30s", "do": "crash", "node": "b", "restart_after": "4s"}]})",
        20);
  }
}

}  // namespace
}  // namespace whorl::sim::tokenless_scenario_test
