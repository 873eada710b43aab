// `whorl replay` says what a scenario says in vain.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/cli_testing.h"

namespace whorl::replay_warnings_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string Stops(const std::string& use) {
  return R"({"version": 1, "about": "Told to stop, the leader's work needs longer than a lease to end.",
  "protocol": "fenced_lease", "lease": "10s",
  "nodes": [{"name": "a")" +
         use + R"(}, {"name": "b", "start_at": "1s")" + use + R"(}],
  "duration": "2m",
  "workload": {"write_every": "500ms", "work_for": "50ms", "stop_takes": "15s"},
  "faults": [{"at": "30s", "do": "stop", "node": "a"}]})";
}

TEST_F(CliTest, ReplayWarnsOfWhatHasNoEffect) {
  Write("asks.json", Stops(""));
  Write("led.json", Stops(R"(, "use": "callback")"));
  EXPECT_THAT(
      Shell("$W replay asks.json"),
      Ends(0, HasSubstr("\n         warning: /workload/stop_takes has hardly any effect on")));
  EXPECT_THAT(Shell("$W replay led.json").out, Not(HasSubstr("warning")));
  const json asks = json::parse(Shell("$W replay asks.json --json").out);
  ASSERT_EQ(asks["scenarios"][0]["warnings"].size(), 1U);
  EXPECT_THAT(asks["scenarios"][0]["warnings"][0].get<std::string>(),
              AllOf(HasSubstr("stop_takes"), HasSubstr("callback")));
  const json led = json::parse(Shell("$W replay led.json --json").out);
  EXPECT_EQ(led["scenarios"][0]["warnings"].dump(), "[]");
}

}  // namespace
}  // namespace whorl::replay_warnings_test
