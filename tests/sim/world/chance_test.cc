// Draws are named by content: whatever is added to a scenario leaves the draws of the rest alone,
// so that two runs differ by what was changed and not by luck.
#include "sim/world/chance.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "protocol/spindle_v2/words.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::chance_test {
namespace {

std::string Text(const std::string& nodes, const std::string& more) {
  return R"({"version": 1, "about": "x", "protocol": "spindle_v2", "lease": "5s", "nodes": [)" +
         nodes + R"(], "duration": "60s")" + more + "}";
}

constexpr const char* kNodes = R"({"name": "a"}, {"name": "b", "start_at": "1s"},
    {"name": "c", "start_at": "2s"})";

// How long each check of a node took for the lock named "lock", in order: both ways and the service
// time of a read, which never waits for a lock.
std::vector<Duration> Checks(const Scenario& scenario, const std::string& node) {
  std::map<CallName, Instant> sent;
  std::vector<Duration> took;
  for (const Observation& observation : Watch(scenario).observations) {
    const auto of_interest = [&](const CallName& call, StepName step) {
      return step == spindle_v2::steps::kCheck && scenario.locks[call.lock] == "lock" &&
             scenario.nodes[static_cast<size_t>(call.process.node)].name == node;
    };
    if (const auto* call = std::get_if<CallSent>(&observation.what)) {
      if (of_interest(call->call, call->step)) sent[call->call] = observation.at;
    } else if (const auto* end = std::get_if<CallEnded>(&observation.what)) {
      if (of_interest(end->call, end->step)) took.push_back(observation.at - sent[end->call]);
    }
  }
  return took;
}

std::vector<Duration> ChecksOfC(const std::string& nodes, const std::string& more) {
  return Checks(ScenarioOf(Text(nodes, more)), "c");
}

TEST(Chance, DrawsDifferAtAll) {
  // Otherwise everything below would hold for a constant.
  const Scenario scenario = ScenarioOf(Text(kNodes, ""));
  const std::vector<Duration> c = Checks(scenario, "c");
  ASSERT_GT(c.size(), 5u);
  EXPECT_NE(c[0], c[1]);
  EXPECT_NE(c, Checks(scenario, "b"));
}

TEST(Chance, WhatIsAddedMovesNoDrawOfTheRest) {
  const std::vector<Duration> before = ChecksOfC(kNodes, "");
  for (const char* added :
       {R"("faults": [{"at": "7s", "do": "pause", "node": "b", "for": "3s"}])",
        R"("faults": [{"at": "7s", "do": "crash", "node": "b", "restart_after": "1s"}])",
        R"("faults": [{"at": "7s", "do": "partition", "node": "b", "for": "9s"}])",
        R"("workload": {"write_every": "110ms"})", R"("locks": ["another", "lock"])",
        R"("locks": ["lock", "another"])"}) {
    EXPECT_EQ(ChecksOfC(kNodes, std::string(", ") + added), before) << added;
  }
  const std::string another_node = R"({"name": "z", "start_at": "3s"}, )";
  EXPECT_EQ(ChecksOfC(another_node + kNodes, ""), before) << another_node;
}

// What a fault draws is its own, and does not depend on its place among the others.
TEST(Chance, AFaultMovesNoDrawOfOtherFaults) {
  const std::string slow = R"({"at": "5s", "do": "latency", "node": "c",
      "add": {"p50": "20ms", "p99": "400ms", "max": "1s"}})";
  const std::string other = R"({"at": "4s", "do": "latency", "node": "b",
      "add": {"p50": "20ms", "p99": "400ms", "max": "1s"}})";
  const auto with = [&](const std::string& faults) {
    return ChecksOfC(kNodes, R"(, "faults": [)" + faults + "]");
  };
  const std::vector<Duration> before = with(slow);
  EXPECT_NE(before, ChecksOfC(kNodes, ""));
  EXPECT_EQ(with(other + "," + slow), before);
  EXPECT_EQ(with(slow + "," + other), before);
  // Two faults with the same text have different draws.
  EXPECT_NE(with(slow + "," + slow), before);
}

// The draws of the node's previous process do not matter. Otherwise a fault of the first process
// would change the next one, including its random id.
TEST(Chance, AProcessDrawsTheSameWhateverTheOneBeforeDrew) {
  const Scenario scenario = ScenarioOf(Text(kNodes, ""));
  const auto draw = [](Chance& chance, uint32_t incarnation) {
    return chance.Between({0, incarnation}, 0, std::nullopt, purposes::kInstanceId, 0, 1'000'000);
  };
  SeededChance once(1, scenario);
  SeededChance often(1, scenario);
  draw(once, 1);
  for (int i = 0; i < 10; ++i) draw(often, 1);
  EXPECT_EQ(draw(once, 2), draw(often, 2));
  EXPECT_NE(draw(once, 2), draw(once, 3));
}

}  // namespace
}  // namespace whorl::sim::chance_test
