// Rows of fenced_lease, and runs of it that no scenario file shows as sharply. What of it is bad
// input: errors.txt.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/judge/expectations.h"
#include "sim/judge/run.h"
#include "sim/scenario/loader.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::fenced_lease_scenario_test {
namespace {

std::string Text(const std::string& node, const std::string& more) {
  return R"({"version": 1, "about": "x", "protocol": "fenced_lease", "lease": "5s", "nodes": [)" +
         node + R"(, {"name": "b", "start_at": "1s"}], "duration": "1m")" + more + "}";
}

TEST(FencedLeaseScenarioTest, RowsHaveAllItsColumns) {
  const Scenario scenario = ScenarioOf(Text(
      "\"a\"", R"(, "rows": [{"name": "lock", "heartbeat": "-3s", "token": "-9s", "writer": "z",
                             "lease_ms": 4000, "attempt": "z-1"}])"));
  ASSERT_EQ(scenario.rows.size(), 1U);
  EXPECT_EQ(scenario.rows[0].values[4], Value(int64_t{4'000}));
}

// From the stop to the next leader's belief.
Duration HandOver(const std::string& network) {
  const Witness run = Watch(ScenarioOf(
      Text("\"a\"", R"(, "rows": [{"name": "lock", "heartbeat": "-1h", "token": "-1h"}],)" +
                        network + R"("faults": [{"at": "20s", "do": "stop", "node": "a"}])")));
  const std::vector<Instant> begun =
      run.When<BeliefChanged>([](const BeliefChanged& changed) { return changed.believes; });
  EXPECT_EQ(begun.size(), 2U);
  return begun.empty() ? Duration{} : begun.back() - (Instant{} + Seconds(20));
}

TEST(FencedLeaseScenarioTest, AnAnnouncedReleaseIsTakenAtOnceAndAnotherAtTheNextLook) {
  EXPECT_GT(HandOver(""), Milliseconds(200));
  EXPECT_LT(HandOver(R"("network": {"announce_releases": true},)"), Milliseconds(100));
}

// The metrics of a run for many seeds, in which nothing that is promised may be violated.
TEST(FencedLeaseScenarioTest, KeepsItsPromisesInBadWeather) {
  // Many faults at once, of every kind that it promises to stand.
  ExpectPromisesKept(Text(R"("a", "c")",
                          R"(, "network": {"connection_timeout": "2s"}, "faults": [
      {"at": "8s", "do": "pause", "node": "a", "for": "7s"},
      {"at": "9s", "do": "partition", "node": "b", "for": "3s"},
      {"at": "12s", "do": "abort", "node": "c", "percent": 60, "for": "8s"},
      {"at": "20s", "do": "partition", "node": "*", "direction": "from", "for": "4s"},
      {"at": "26s", "do": "crash", "node": "b", "restart_after": "1s"},
      {"at": "30s", "do": "stop", "node": "a", "restart_after": "2s"},
      {"at": "34s", "do": "unavailable", "for": "6s"},
      {"when": {"node": "c", "step": "take", "phase": "committed"}, "do": "drop_reply",
       "node": "c"}])"),
                     100);
}

}  // namespace
}  // namespace whorl::sim::fenced_lease_scenario_test
