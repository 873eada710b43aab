// A scenario that is written as text is read back as the same scenario.

#include "sim/scenario/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/scenario/loader.h"

namespace whorl::sim::writer_test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> ScenarioFiles() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(WHORL_SOURCE_DIR "/scenarios")) {
    const fs::path& path = entry.path();
    if (path.extension() == ".json" && !path.string().ends_with("schema.json"))
      files.push_back(path);
  }
  std::ranges::sort(files);
  return files;
}

// A hunt saves its findings as text; a lost key would make a different scenario.
TEST(ScenarioWriter, WritesEveryScenarioThatThereIsAsItIsRead) {
  const std::vector<std::string> files = ScenarioFiles();
  ASSERT_GE(files.size(), 60U);
  for (const std::string& file : files) {
    const absl::StatusOr<Scenario> scenario = LoadScenario(file);
    ASSERT_TRUE(scenario.ok()) << scenario.status().message();
    for (const std::string& text : {ScenarioText(*scenario), ScenarioLine(*scenario)}) {
      const absl::StatusOr<Scenario> again = ParseScenario(text, file);
      ASSERT_TRUE(again.ok()) << again.status().message() << "\n" << text;
      EXPECT_EQ(WithoutPlace(*again), WithoutPlace(*scenario)) << file << "\n" << text;
    }
  }
}

// People commit what a hunt saves: it has to read like what they write.
TEST(ScenarioWriter, WritesANodeAndAFaultALineAndLeavesOutDefaults) {
  const std::string text = R"({
  "version": 1,
  "about": "A test.",
  "protocol": "spindle_v2",
  "lease": "5s",
  "nodes": [ "a", { "name": "b", "start_at": "2s" } ],
  "duration": "60s",
  "faults": [
    { "at": "20s", "do": "pause", "node": "a", "for": "15s" },
    { "when": { "node": "b", "step": "check", "phase": "sent", "count": 2 }, "do": "crash", "node": "b" }
  ],
  "expect": { "violates": [ "isolation" ] }
}
)";
  const absl::StatusOr<Scenario> scenario = ParseScenario(text, "x.json");
  ASSERT_TRUE(scenario.ok()) << scenario.status().message();
  // A list with an object in it has a line for each element.
  std::string expected = text;
  const std::string nodes = R"([ "a", { "name": "b", "start_at": "2s" } ])";
  expected.replace(expected.find(nodes), nodes.size(),
                   "[\n    \"a\",\n    { \"name\": \"b\", \"start_at\": \"2s\" }\n  ]");
  EXPECT_EQ(ScenarioText(*scenario), expected);
  EXPECT_EQ(ScenarioLine(*scenario).find('\n'), std::string::npos);
}

// `whorl explore --save` writes these keys, and nothing else does.
TEST(ScenarioWriter, WritesEachKeyOfAScheduleAndTheConstants) {
  const std::string text = R"({
  "version": 1,
  "about": "A test.",
  "protocol": "fenced_lease",
  "constants": "grid",
  "locks": [ "x", "y" ],
  "lease": "5s",
  "nodes": [ "a", "b" ],
  "duration": "60s",
  "faults": [
    { "at": "2s", "do": "drop_request", "node": "a" },
    { "at": "2s", "do": "delete_row", "lock": "x" }
  ],
  "schedule": [
    { "at": "0s", "event": "node_starts", "node": "a" },
    { "event": "call_arrives", "node": "a", "incarnation": 1, "lock": "y", "step": "read", "transaction": 2, "attempt": 3, "call": 4 },
    { "event": "timer_due", "node": "b", "timer": "backoff", "id": 5 },
    { "at": "2s", "event": "fault_begins", "step": "read", "fault": 0 },
    { "at": "2s", "event": "fault_begins", "fault": 1 },
    { "at": "2s", "event": "commit_becomes_visible", "fault": 1 }
  ]
}
)";
  const absl::StatusOr<Scenario> scenario = ParseScenario(text, "x.json");
  ASSERT_TRUE(scenario.ok()) << scenario.status().message();
  EXPECT_EQ(ScenarioText(*scenario), text);
  EXPECT_EQ(scenario->schedule[1].line, 16);
  EXPECT_EQ(WithoutPlace(*scenario).schedule[1].line, 0);
}

}  // namespace
}  // namespace whorl::sim::writer_test
