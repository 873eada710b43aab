// What a scenario says without effect is told, and nothing else is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sim/scenario/loader.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::warnings_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> WarningsOfText(const std::string& protocol, const std::string& nodes,
                                        const std::string& more) {
  return WarningsOf(ScenarioOf(R"({"version": 1, "about": "x", "protocol": ")" + protocol +
                               R"(", "nodes": [)" + nodes + R"(], "duration": "60s", )" + more +
                               "}"));
}

// Who writes that work needs 15 s to stop, and does not say by callback, has tested nothing of it.
TEST(ScenarioWarnings, StopTakesHasHardlyAnyEffectOnWhoOnlyAsks) {
  const std::string stop = R"("workload": {"work_for": "50ms", "stop_takes": "15s"},
                             "faults": [{"at": "30s", "do": "stop", "node": "a"}])";
  EXPECT_THAT(WarningsOfText("fenced_lease", R"("a", "b")", stop),
              ElementsAre(AllOf(HasSubstr("/workload/stop_takes has hardly any effect on any node"),
                                HasSubstr("\"use\": \"callback\""))));
  EXPECT_THAT(WarningsOfText("fenced_lease", R"({"name": "a", "use": "callback"}, "b")", stop),
              ElementsAre(HasSubstr("on node \"b\"")));
  EXPECT_THAT(WarningsOfText("fenced_lease", R"({"name": "a", "use": "callback"},
                             {"name": "b", "use": "callback"})",
                             stop),
              IsEmpty());
  EXPECT_THAT(WarningsOfText("fenced_lease", R"("a", "b")",
                             R"("workload": {"work_for": "0s", "stop_takes": "15s"})"),
              ElementsAre(HasSubstr("has no effect")));
  EXPECT_THAT(WarningsOfText("fenced_lease", R"("a", "b")", R"("workload": {"work_for": "50ms"})"),
              IsEmpty());
}

// Who writes how long the lock is held, and calls no Lock, has tested nothing of it.
TEST(ScenarioWarnings, LockingAgainHasNoEffectWhereNobodyLocks) {
  const std::string again = R"("workload": {"hold_for": "3s", "lock_again": "1s"})";
  EXPECT_THAT(WarningsOfText("spindle_v2", R"("a", "b")", again),
              ElementsAre(AllOf(HasSubstr("/workload/hold_for has no effect"),
                                HasSubstr("no node has \"use\": \"lock\"")),
                          HasSubstr("/workload/lock_again has no effect")));
  EXPECT_THAT(WarningsOfText("spindle_v2", R"({"name": "a", "use": "lock"}, "b")", again),
              IsEmpty());
}

TEST(ScenarioWarnings, AnnouncementsHaveNoEffectOnWhoDoesNotListen) {
  const std::string announce = R"("faults": [{"at": "30s", "do": "announce", "node": "b"}])";
  EXPECT_THAT(WarningsOfText("spindle_v2", R"("a", "b")", announce),
              ElementsAre(HasSubstr("spindle_v2 does not listen")));
  EXPECT_THAT(WarningsOfText("fenced_lease", R"("a", "b")", announce), IsEmpty());
}

TEST(ScenarioWarnings, NoScenarioOfOursHasAny) {
  for (const auto& entry : std::filesystem::directory_iterator(WHORL_SOURCE_DIR "/scenarios")) {
    if (entry.path().extension() != ".json" || entry.path().stem().string().ends_with("schema"))
      continue;
    const auto scenario = LoadScenario(entry.path().string());
    ASSERT_TRUE(scenario.ok()) << scenario.status().message();
    EXPECT_THAT(WarningsOf(*scenario), IsEmpty()) << entry.path();
  }
}

}  // namespace
}  // namespace whorl::sim::warnings_test
