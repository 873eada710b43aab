// The state report agrees with the observations up to its time.
#include "sim/report/state_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "protocol/spindle_v2/words.h"
#include "sim/world/driver.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::state_report_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// a wins at once; it pauses at 8 s, and the network of b is gone from 12 s on.
const std::string kText = R"({"version": 1, "about": "a test", "protocol": "spindle_v2",
  "lease": "5s", "duration": "30s",
  "nodes": [{"name": "a", "clock": {"offset": "250ms"}}, {"name": "b", "start_at": "1s"},
            {"name": "c", "start_at": "never"}],
  "spanner": {"truetime": {"epsilon": "4ms"}, "current_timestamp_error": "2ms"},
  "rows": [{"name": "other", "heartbeat": "-1m"}],
  "faults": [{"at": "8s", "do": "pause", "node": "a", "for": "3s"},
             {"at": "12s", "do": "partition", "node": "b"},
             {"when": {"node": "a", "step": "has_lock", "phase": "ended", "count": 15},
              "do": "crash", "node": "a"}]})";

class StateReport : public testing::Test {
 protected:
  Json At(Duration time) {
    const Instant at = Instant{} + time;
    StateWatch watch(scenario_);
    const World world = RunUntil(scenario_, scenario_.seed, at, &watch);
    EXPECT_LE(world.now(), at);
    return StateJson(world, watch, at);
  }
  // The first time at which an observation that `wanted` accepts is made.
  template <typename T, typename Wanted>
  Duration When(const Wanted& wanted) {
    const std::vector<Instant> times = Watch(scenario_).When<T>(wanted);
    EXPECT_FALSE(times.empty());
    return times.empty() ? Duration{} : times.front() - Instant{};
  }

  Scenario scenario_ = ScenarioOf(kText);
};

// What a reader compares with their expectation: the clocks, the rows, and what each process
// believes.
TEST_F(StateReport, TellsClocksRowsAndNodes) {
  const Json state = At(Seconds(7));
  EXPECT_EQ(state["at"], "7");
  EXPECT_EQ(state["spanner"]["truetime"], (Json{{"earliest", "6.996"}, {"latest", "7.004"}}));
  EXPECT_EQ(state["spanner"]["current_timestamp"], "7.002");
  const Json& rows = state["spanner"]["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["row"], "lock");
  EXPECT_EQ(rows[1]["columns"]["heartbeat"], "-60");
  EXPECT_EQ(rows[1]["columns"]["token"], nullptr);

  const Json& a = state["nodes"][0];
  EXPECT_EQ(a["life"], "running");
  EXPECT_EQ(a["paused"], false);
  EXPECT_EQ(a["wall_clock"], "7.25");
  EXPECT_EQ(a["monotonic_clock"], "7");
  EXPECT_EQ(a["locks"][0]["believes"], true);
  EXPECT_EQ(a["locks"][0]["own_token"], rows[0]["columns"]["token"]);
  EXPECT_EQ(a["locks"][0]["protocol"]["runs"][0]["round"], "idle");
  EXPECT_EQ(a["locks"][0]["last_answer"]["answer"], "yes");
  EXPECT_EQ(state["nodes"][1]["monotonic_clock"], "6");
  EXPECT_EQ(state["nodes"][1]["locks"][0]["believes"], false);
  EXPECT_EQ(state["nodes"][1]["locks"][0]["last_answer"]["answer"], "no");
  EXPECT_EQ(state["nodes"][2], (Json{{"node", "c"}, {"life", "down"}, {"link", "up"}}));
}

// A fault is first announced, then active until a time, then over.
TEST_F(StateReport, TellsFaultsFromBeforeTheyStrikeUntilTheyAreOver) {
  const auto faults = [this](Duration at) { return At(at)["faults"]; };
  const Json before = faults(Seconds(7));
  EXPECT_TRUE(before["active"].empty());
  ASSERT_EQ(before["to_come"].size(), 3U);
  EXPECT_EQ(before["to_come"][0]["strikes"], "8");
  EXPECT_EQ(before["to_come"][2]["strikes"], "when a reaches the phase ended of has_lock, time 15");
  const Json paused = faults(Seconds(9));
  ASSERT_EQ(paused["active"].size(), 1U);
  EXPECT_EQ(paused["active"][0]["node"], "a");
  EXPECT_EQ(paused["active"][0]["since"], "8");
  EXPECT_EQ(paused["active"][0]["until"], "11");
  EXPECT_TRUE(At(Seconds(9))["nodes"][0]["paused"]);
  const Json cut_off = faults(Seconds(13));
  ASSERT_EQ(cut_off["active"].size(), 1U) << "the pause is over";
  EXPECT_FALSE(cut_off["active"][0].contains("until")) << "for good";
  EXPECT_EQ(At(Seconds(13))["nodes"][1]["link"], "black_holed");
}

// The report says where a call is: on its way, at Spanner, or held back.
TEST_F(StateReport, TellsWhereCallsAre) {
  const Duration sent = When<CallSent>([](const CallSent& x) {
    return x.step == spindle_v2::steps::kFirstInsert && Request(Commit{}).index() == x.request;
  });
  const Json on_its_way = At(sent)["calls"];
  ASSERT_EQ(on_its_way.size(), 1U);
  EXPECT_EQ(on_its_way[0]["call"], "a first_insert Commit");
  EXPECT_THAT(on_its_way[0]["now"].get<std::string>(), StartsWith("reaches Spanner at "));

  const Json held = At(Seconds(14))["calls"];
  ASSERT_FALSE(held.empty());
  EXPECT_EQ(held[0]["now"], "held back by the black hole");
  EXPECT_TRUE(held[0].contains("times_out"));
}

// Row locks explain waits; they are visible while a transaction commits.
TEST_F(StateReport, TellsTheLocksOfOpenTransactions) {
  const Duration committed = When<TransactionCommitted>(
      [](const TransactionCommitted& x) { return x.step == spindle_v2::steps::kFirstInsert; });
  const Json open = At(committed - Microseconds(1))["spanner"]["transactions"];
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(open[0]["of"], "a first_insert, attempt 1");
  EXPECT_THAT(open[0]["phase"].get<std::string>(), StartsWith("committing with timestamp 0.0"));
  EXPECT_EQ(open[0]["exclusive_locks"][0], "lock (name, heartbeat, token, writer)");
  EXPECT_TRUE(At(committed)["spanner"]["transactions"].empty()) << "it is over then";
}

// A process whose commit waits for another's locks says for whose.
TEST_F(StateReport, TellsWhoWaitsForWhom) {
  scenario_ = ScenarioOf(R"({"version": 1, "about": "a test", "protocol": "spindle_v2",
    "lease": "5s", "duration": "3s", "nodes": [{"name": "n", "count": 6}]})");
  const Duration waits = When<CallWaits>([](const CallWaits&) { return true; });
  const Json open = At(waits)["spanner"]["transactions"];
  int waiting = 0;
  for (const Json& transaction : open) {
    if (transaction.contains("waits")) ++waiting;
  }
  EXPECT_EQ(waiting, 1);
}

// The end of a run is a time of it, and the last state is the whole run's.
TEST_F(StateReport, TheStateAtTheEndIsAfterTheLastEvent) {
  const Witness witness = Watch(scenario_);
  const Json state = At(scenario_.duration);
  const Instant last = witness.observations[witness.observations.size() - 2].at;
  EXPECT_GE(std::stod(state["last_event"].get<std::string>()), static_cast<double>(last.ns) / 1e9);
  EXPECT_EQ(state["nodes"][0]["life"], "down") << "crashed";
}

// For people: the same, as lines.
TEST_F(StateReport, IsPrintedAsIndentedLines) {
  std::ostringstream out;
  PrintState(At(Seconds(9)), out);
  EXPECT_THAT(out.str(),
              AllOf(StartsWith("at: 9\nlast_event: "),
                    HasSubstr("\n  truetime: earliest 8.996, latest 9.004\n"),
                    HasSubstr("\n    - row: lock\n"), HasSubstr("\n  - node: a\n    life: running"),
                    HasSubstr("\n    paused: yes\n"),
                    HasSubstr("    - fault pause (line 7), node a, since 8, until 11\n"),
                    HasSubstr("  - node c, life down, link up\n")));
}

}  // namespace
}  // namespace whorl::sim::state_report_test
