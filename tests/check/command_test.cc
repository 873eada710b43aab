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
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

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
      Ends(1, testing::AllOf(HasSubstr("pod-a was silent for "), HasSubstr(" from 34.8"),
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
  EXPECT_THAT(ended.out, HasSubstr("# inferred: pod-a was silent for "));
  EXPECT_THAT(ended.out, HasSubstr("(paused?)"));
  EXPECT_THAT(ended.out, Not(HasSubstr(": paused"))) << "the legend of a run that was watched";
  if (ended.code == 2) {
    EXPECT_THAT(ended.err, HasSubstr("built without pages"));
    return;
  }
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_THAT(ReadText(folder_ / "night.html"), HasSubstr("\"recorded\":true"));
  EXPECT_THAT(ReadText(folder_ / "night.html"), HasSubstr("pod-b took it from pod-a"));
  EXPECT_THAT(ReadText(folder_ / "night.html"), HasSubstr("--protocol spindle_v2"));
}

// --- lines of processes alone ---

// A line of each, at a second of the minute.
std::string Line(const std::string& id, const std::string& event, const std::string& second) {
  return R"({"event":")" + event + R"(","id":")" + id +
         R"(","lock":"job","logs":"leads works","time":"2026-01-01T00:00:)" + second + "Z\"}\n";
}

// a leads until 10 s, and b from `second` on.
std::string TwoLead(const std::string& second) {
  return Line("a", "leads", "01") + Line("b", "leads", second) + Line("a", "lost", "10") +
         Line("b", "lost", "20");
}

// That the processes run the protocol is what the command line says.
TEST_F(CheckCommandTest, WithoutRowsAndCallsTheNamedProtocolPromisesAllTheSame) {
  Write("two.jsonl", TwoLead("05"));
  const std::string check = "check two.jsonl --protocol fenced_lease --clock-error 50ms";
  EXPECT_THAT(Whorl(check + " --promised"),
              Ends(1, AllOf(HasSubstr("violated  single_leader_belief (promised)\n"),
                            HasSubstr("\n  the processes run fenced_lease, as --protocol says: "),
                            HasSubstr("\n1 promise broken; "),
                            HasSubstr("; exit code 1, since a promise was broken\n"))));
  Write("call.jsonl", R"({"event":"call","id":"a","lock":"job","sent":"2026-01-01T00:00:02Z",)"
                      R"("commit":"2026-01-01T00:00:02.1Z","received":"2026-01-01T00:00:02.2Z"})"
                      "\n");
  EXPECT_THAT(Whorl(check + " call.jsonl").out, Not(HasSubstr("as --protocol says")));
}

TEST_F(CheckCommandTest, WhatIsPossibleIsNamedAndIsNotCalledNothing) {
  Write("two.jsonl", TwoLead("10.01"));
  EXPECT_THAT(Whorl("check two.jsonl --protocol fenced_lease --clock-error 50ms --explain"),
              Ends(0, AllOf(HasSubstr("\nnothing certain; 1 possible: single_leader_belief\n"),
                            HasSubstr("\n0 promises broken; 1 possible: single_leader_belief; "),
                            HasSubstr(" unknown; exit code 0, since no violation is certain\n"))));
  Write("apart.jsonl", TwoLead("12"));
  EXPECT_THAT(
      Whorl("check apart.jsonl --protocol fenced_lease --clock-error 50ms --explain"),
      Ends(0, AllOf(HasSubstr("\nnothing was certainly violated\n"), Not(HasSubstr(" possible")))));
}

TEST_F(CheckCommandTest, PossibleViolationsBesideOneThatIsCertainAreCounted) {
  Write("two.jsonl", TwoLead("05") + Line("c", "leads", "20.01") + Line("c", "lost", "30"));
  const std::string check = "check two.jsonl --protocol fenced_lease --clock-error 50ms";
  EXPECT_THAT(Whorl(check), Ends(1, HasSubstr("for at least 4.9s (and 1 more possible)\n")));
  EXPECT_EQ(ParsedJson(Whorl(check + " --json"))["invariants"]["single_leader_belief"]["possible"],
            1);
}

TEST_F(CheckCommandTest, TheLastLineSaysWhyTheExitCodeIsWhatItIs) {
  Write("two.jsonl", TwoLead("05"));
  EXPECT_THAT(Whorl("check two.jsonl --protocol spindle_v2 --clock-error 50ms"),
              Ends(1, HasSubstr("\n0 promises broken; 1 violation outside of what is promised; ")));
  EXPECT_THAT(Whorl("check two.jsonl --protocol spindle_v2 --clock-error 50ms").out,
              testing::EndsWith("; exit code 1, since a violation is certain, promised or not "
                                "(--promised)\n"));
  Write("bad.jsonl", Line("a", "leads", "01") + "{\n");
  EXPECT_THAT(Whorl("check bad.jsonl --protocol spindle_v2 --clock-error 50ms"),
              Ends(2, testing::EndsWith("; exit code 2, since some of the input is bad\n")));
}

// --- locks that are none of whorl's ---

TEST_F(CheckCommandTest, WithoutAProtocolWhatProcessesLoggedIsJudged) {
  Write("two.jsonl", TwoLead("05"));
  const std::string check = "check two.jsonl --protocol none --clock-error 50ms";
  EXPECT_THAT(Whorl(check + " --explain --timeline"),
              Ends(1, AllOf(HasSubstr("violated  single_leader_belief\n"),
                            HasSubstr("b believed that it leads lock \"job\" while a did"),
                            HasSubstr("\n          lease_respected: only the rows of a protocol's "
                                      "table show it (--protocol none)\n"),
                            Not(HasSubstr("(promised)")), HasSubstr("<- single_leader_belief"),
                            HasSubstr("\nnothing is promised; 1 violation; "),
                            HasSubstr("; exit code 1, since a violation is certain\n"))));
  const json read = ParsedJson(Whorl(check + " --json"));
  EXPECT_EQ(read["protocol"], "none");
  EXPECT_EQ(read["decides"], json::array({"single_leader_belief"}));
  EXPECT_EQ(read["invariants"]["has_lock_truthful"]["verdict"], "not judged");
  Write("apart.jsonl", TwoLead("12"));
  EXPECT_THAT(Whorl("check apart.jsonl --protocol none --clock-error 50ms"),
              Ends(0, HasSubstr("holds     single_leader_belief\n")));
}

TEST_F(CheckCommandTest, WithoutAProtocolChangesOfRowsArePassedOver) {
  Write("two.jsonl", TwoLead("12") + kTakes + kTakesOver);
  EXPECT_THAT(
      Whorl("check two.jsonl --protocol none --clock-error 50ms"),
      Ends(0, AllOf(HasSubstr("holds     single_leader_belief\n"),
                    HasSubstr("passed over, a change of a row, and no protocol is judged"))));
  Write("rows.jsonl", kTakes);
  EXPECT_THAT(Whorl("check rows.jsonl --protocol none"),
              Complains(2, HasSubstr("--protocol NAME says whose table it is")));
}

TEST_F(CheckCommandTest, WhatNeedsAProtocolIsRefusedWithoutOne) {
  Write("two.jsonl", TwoLead("05"));
  const std::string check = "check two.jsonl --protocol none ";
  ExpectUsageError(check + "--scenario s.json", "--scenario writes a scenario of a protocol");
  ExpectUsageError(check + "--table locks", "--protocol none knows no table");
  ExpectUsageError(check + "--promised", "--protocol none promises nothing");
}

TEST_F(CheckCommandTest, AnInputIsNotWrittenOver) {
  Write("h.jsonl", kTakes);
  ExpectUsageError("check h.jsonl --protocol spindle_v2 --scenario ./h.jsonl",
                   "./h.jsonl is an input, and would be written over");
  EXPECT_THAT(ReadText(folder_ / "h.jsonl"), HasSubstr("commit_timestamp"));
}

TEST_F(CheckCommandTest, RefusesBadUsage) {
  Write("h.jsonl", kTakes);
  ExpectUsageError("check h.jsonl", "check wants --protocol: spindle_v2, ");
  ExpectUsageError("check h.jsonl", "or none, of locks that are none of whorl's");
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
