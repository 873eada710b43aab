// What `whorl new` writes is a scenario that works, and comments are no part of a scenario.
#include "sim/report/starter_scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "protocol/protocols.h"
#include "sim/judge/expectations.h"
#include "sim/judge/run.h"
#include "sim/scenario/loader.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::starter_scenario_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// The first file of a newcomer must not fail.
TEST(ScenarioStarter, LoadsAndIsAsExpectedForEveryProtocol) {
  for (const ProtocolInfo& protocol : Protocols()) {
    SCOPED_TRACE(protocol.name);
    const std::string text = StarterScenario(protocol);
    EXPECT_THAT(text, testing::Not(HasSubstr("@")));
    const auto scenario = ParseScenario(text, "new.json");
    ASSERT_TRUE(scenario.ok()) << scenario.status().message();
    EXPECT_EQ(scenario->protocol, protocol.name);
    EXPECT_FALSE(scenario->expect.holds.empty());
    const RunResult result = RunScenario(*scenario, scenario->seed, nullptr);
    EXPECT_THAT(FailuresOf(*scenario, result), IsEmpty());
  }
}

// A comment says nothing to the run.
TEST(ScenarioComments, ChangeNothingAndMayStandInEveryObject) {
  const std::string bare = R"({"version": 1, "about": "x", "protocol": "spindle_v2",
    "nodes": [{"name": "a", "clock": {"rate_ppm": 5}}], "duration": "5s",
    "faults": [{"at": "1s", "do": "crash", "node": "a"}]})";
  const std::string commented = R"({"//": "top", "version": 1, "about": "x",
    "protocol": "spindle_v2", "// nodes": "who",
    "nodes": [{"name": "a", "//": "it", "clock": {"rate_ppm": 5, "// 2": "fast"}}],
    "duration": "5s",
    "faults": [{"// why": "to see", "at": "1s", "do": "crash", "node": "a"}]})";
  Scenario with = ScenarioOf(commented);
  Scenario without = ScenarioOf(bare);
  with.faults[0].line = without.faults[0].line;
  EXPECT_EQ(with, without);
}

// A key that a user has commented out by // would silently have no effect if its value could be
// anything.
TEST(ScenarioComments, AreStringsAndAreNamedOnce) {
  const auto error_of = [](const std::string& member) {
    const auto scenario = ParseScenario(
        R"({"version": 1, "about": "x", "protocol": "spindle_v2", "nodes": ["a"],
            "duration": "5s", )" +
            member + "}",
        "x.json");
    return scenario.ok() ? "" : std::string(scenario.status().message());
  };
  EXPECT_EQ(error_of(R"("//seed": "7")"), "");
  EXPECT_THAT(error_of(R"("//seed": 7)"),
              HasSubstr("expected a string, since this key is a comment, got the number 7"));
  EXPECT_THAT(error_of(R"("//": "a", "//": "b")"), HasSubstr("x.json:2"));
  EXPECT_THAT(error_of(R"("/seed": "7")"), HasSubstr("unknown key"));
}

}  // namespace
}  // namespace whorl::sim::starter_scenario_test
