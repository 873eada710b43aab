// Runs the built command on histories.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/cli_testing.h"
#include "tests/cli/json_lines.h"

namespace whorl::check_command_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kTakes =
    R"({"commit_timestamp":"2026-01-01T00:00:01Z","mod_type":"INSERT","mods":[{"keys":{"name":"job"},)"
    R"("new_values":{"heartbeat":"2026-01-01T00:00:01Z","token":"2026-01-01T00:00:01Z","writer":"a"}}]})"
    "\n";
constexpr const char* kTakesOver =
    R"({"commit_timestamp":"2026-01-01T00:00:05Z","mod_type":"UPDATE","mods":[{"keys":{"name":"job"},)"
    R"("new_values":{"heartbeat":"2026-01-01T00:00:05Z","token":"2026-01-01T00:00:05Z","writer":"b"}}]})"
    "\n";

class CheckCommandTest : public CliTest {};

TEST_F(CheckCommandTest, SaysHoldsAndViolated) {
  Write("one.jsonl", kTakes);
  EXPECT_THAT(Whorl("check one.jsonl --protocol spindle_v2 --lease 10s"),
              Ends(0, HasSubstr("holds     lease_respected")));
  Write("two.jsonl", kTakesOver);
  EXPECT_THAT(Whorl("check two.jsonl one.jsonl --protocol spindle_v2 --lease 10s"),
              Ends(1, testing::AllOf(HasSubstr("violated  lease_respected"),
                                     HasSubstr("b took lock \"job\" from a"))));
}

TEST_F(CheckCommandTest, WritesOneJsonDocument) {
  Write("h.jsonl", std::string(kTakes) + kTakesOver);
  const Ended ended = Whorl("check h.jsonl --protocol spindle_v2 --lease 10s --json");
  EXPECT_EQ(ended.code, 1);
  const json read = ParsedJson(ended);
  EXPECT_EQ(read["invariants"]["lease_respected"]["verdict"], "violated");
  EXPECT_EQ(read["invariants"]["isolation"]["verdict"], "not judged");
  EXPECT_EQ(read["invariants"]["no_wedge"]["verdict"], "unknown");
  EXPECT_EQ(read["metrics"]["takeovers"], 1);
}

TEST_F(CheckCommandTest, LinesThatCannotBeReadAreLocatedAndNothingHolds) {
  Write("h.jsonl", std::string(kTakes) + "{\"event\":\n");
  EXPECT_THAT(Whorl("check h.jsonl --protocol spindle_v2 --lease 10s"),
              Ends(2, HasSubstr("unknown   lease_respected"), HasSubstr("h.jsonl:2:")));
}

TEST_F(CheckCommandTest, UnpacksAndReadsLogs) {
  Write("h.jsonl", std::string(kTakes) + kTakesOver);
  Write("a.log",
        "[spindle/a] 2026/01/01 00:00:02 leader active (me)\n"
        "[spindle/a] 2026/01/01 00:00:12 leader active (me)\n");
  Write("b.log", "[spindle/b] 2026/01/01 00:00:05 leader active (me)\n");
  EXPECT_THAT(
      Shell("gzip h.jsonl && \"$W\" check h.jsonl.gz a.log b.log --protocol spindle_v2 --lease 10s "
            "--clock-error 0s --pattern spindle_v2 --lock job"),
      Ends(1, testing::AllOf(HasSubstr("violated  lease_respected"),
                             HasSubstr("violated  single_leader_belief"))));
}

// Nobody writes on while it is asked: the reader waits in the pipe.
TEST_F(CheckCommandTest, SaysWhatIsCertainWhileTheStreamGoesOn) {
  Write("h.jsonl", std::string(kTakes) + kTakesOver +
                       R"({"event":"goes_on","id":"c","time":"2026-01-01T00:01:00Z"})"
                       "\n");
  const Ended ended = Shell(
      "mkfifo in told; \"$W\" check - --protocol spindle_v2 --lease 10s --window 1s <in >told & "
      "exec 3>in; cat h.jsonl >&3; read -r line <told; echo \"$line\"; exec 3>&-; wait");
  EXPECT_THAT(ended.out, HasSubstr("violated  lease_respected: b took lock \"job\" from a"));
}

// The scenario is a file like any other: replay takes it, and finds what its `expect` says.
TEST_F(CheckCommandTest, WritesAScenarioThatReplaysToTheSameViolation) {
  EXPECT_THAT(
      Whorl("check " WHORL_SOURCE_DIR
            "/examples/check/*.jsonl --protocol spindle_v2 --scenario night.json"),
      Ends(1, testing::AllOf(HasSubstr("pod-a was paused at 34.8"),
                             HasSubstr("single_worker violated at"), HasSubstr("not inferred:"))));
  EXPECT_THAT(Whorl("replay night.json"), Ends(0, HasSubstr("single_worker (expected)")));
  const Ended as_json = Whorl("check " WHORL_SOURCE_DIR
                              "/examples/check/*.jsonl --protocol spindle_v2 --scenario night.json "
                              "--json");
  const json read = ParsedJson(as_json);
  EXPECT_EQ(read["scenario"]["path"], "night.json");
  EXPECT_EQ(read["scenario"]["inferred"].size(), 1);
}

TEST_F(CheckCommandTest, AScenarioThatCannotBeWrittenIsAnError) {
  Write("h.jsonl", kTakes);
  EXPECT_THAT(Whorl("check h.jsonl --protocol spindle_v2 --lease 10s --scenario none/x.json"),
              Complains(3, HasSubstr("none/x.json")));
}

// The page is that of a run, so what it has is tested in tests/check/history_report_test.cc.
TEST_F(CheckCommandTest, WritesAPageAndExplainsTheFirstViolation) {
  const std::string files = "check " WHORL_SOURCE_DIR "/examples/check/*.jsonl";
  const Ended ended =
      Whorl(files + " --protocol spindle_v2 --html night.html --explain --timeline");
  EXPECT_THAT(ended.out, HasSubstr("59.518249         certain by now   <- single_leader_belief"));
  EXPECT_THAT(ended.out, HasSubstr("# believes that it leads"));
  EXPECT_THAT(ended.out, HasSubstr("# inferred: pod-a was paused at 34.8"));
  if (ended.code == 2) {
    EXPECT_THAT(ended.err, HasSubstr("built without pages"));
    return;
  }
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_THAT(ReadText(folder_ / "night.html"), HasSubstr("\"recorded\":true"));
  EXPECT_THAT(ReadText(folder_ / "night.html"), HasSubstr("pod-b took it from pod-a"));
  EXPECT_THAT(ReadText(folder_ / "night.html"), HasSubstr("--protocol spindle_v2"));
}

TEST_F(CheckCommandTest, AnInputIsNotWrittenOver) {
  Write("h.jsonl", kTakes);
  ExpectUsageError("check h.jsonl --protocol spindle_v2 --scenario ./h.jsonl",
                   "./h.jsonl is an input, and would be written over");
  EXPECT_THAT(ReadText(folder_ / "h.jsonl"), HasSubstr("commit_timestamp"));
}

TEST_F(CheckCommandTest, RefusesBadUsage) {
  Write("h.jsonl", kTakes);
  ExpectUsageError("check h.jsonl", "check wants --protocol");
  ExpectUsageError("check --protocol spindle_v2", "check wants the files");
  ExpectUsageError("check h.jsonl --protocol spindle_v", "did you mean");
  ExpectUsageError("check none.jsonl --protocol spindle_v2", "none.jsonl");
  ExpectUsageError("check h.jsonl --protocol spindle_v2 --format jsn", "json");
  ExpectUsageError("check h.jsonl --protocol spindle_v2 --format log", "wants --pattern");
  ExpectUsageError("check h.jsonl --protocol spindle_v2 --pattern none",
                   "no ready pattern: those are spindle_v2");
  Write("bad.json", R"({"lines":[{"match":"(","event":"leads"}]})");
  ExpectUsageError("check h.jsonl --protocol spindle_v2 --pattern bad.json", "missing )");
}

}  // namespace
}  // namespace whorl::check_command_test
