// Runs of protocols without tokens that no scenario file shows as sharply. What of them is bad input:
// errors.txt.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/judge/run.h"
#include "sim/scenario/loader.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::tokenless_scenario_test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

std::string Text(const std::string& protocol, const std::string& more) {
  return R"({"version": 1, "about": "x", "protocol": ")" + protocol +
         R"(", "lease": "5s", "nodes": ["a", {"name": "b", "start_at": "1s"}], "duration": "1m")" +
         more + "}";
}

// --- rows of the start -------------------------------------------------------------------------

std::vector<Row> RowsOfTheStart(const std::string& text) {
  std::vector<Row> rows;
  for (const auto& [at, row] : Watch(ScenarioOf(text)).All<RowCommitted>()) {
    if (row.writer == ProcessId{}) rows.push_back(*row.after);
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
  for (const auto& [at, changed] : witness.All<BeliefChanged>()) {
    if (changed.process.node == 0) beliefs.emplace_back(at, changed.believes);
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

TEST(TokenlessScenarioTest, BothKeepTheirPromisesInBadWeather) {
  for (const char* protocol : {"semaphore", "lease_lock"}) {
    SCOPED_TRACE(protocol);
    ExpectPromisesKept(Text(protocol, kBadWeather), 60);
  }
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
