// Runs the built command on one run (replay --perfetto, --explain, --at), on two traces (diff), and
// without a scenario (new).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tests/cli/cli_testing.h"

namespace whorl::tools_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// a is paused for longer than its lease: b takes over, and the two believe. It is run with other
// seeds than its own, so that nothing is judged: what the protocol does not promise depends on the
// seed.
constexpr std::string_view kTwoBelieve = R"({
  "version": 1, "about": "Two believe.", "protocol": "spindle_v2", "lease": "2s",
  "nodes": ["a", { "name": "b", "start_at": "1s" }], "duration": "30s", "seed": 99,
  "faults": [ { "at": "10s", "do": "pause", "node": "a", "for": "15s" } ],
  "expect": { "violates": ["single_leader_belief"] }
})";

class ToolsTest : public CliTest {};

TEST_F(ToolsTest, TyposGetTheNearestWord) {
  ExpectUsageError("replay --perfeto x", "unknown option --perfeto; did you mean --perfetto?");
  ExpectUsageError("replay --explian", "did you mean --explain?");
  ExpectUsageError("replay d/one.json --explain=no_wegde", "did you mean \"no_wedge\"?");
  ExpectUsageError("new --protocl x", "did you mean --protocol?");
  ExpectUsageError("new --protocol spindle_v3x", "unknown protocol \"spindle_v3x\"");
  ExpectUsageError("diff --jsno", "did you mean --json?");
  ExpectUsageError("dif", "did you mean diff?");
}

// --- replay --perfetto ---------------------------------------------------------------------------

TEST_F(ToolsTest, PerfettoWritesOneRunWholeAndLeavesTheTable) {
  Write("two.json", kTwoBelieve);
  EXPECT_THAT(Whorl("replay two.json --seed 1 --perfetto run.json"),
              Ends(0, HasSubstr("1 scenario: 1 not judged")));
  const json document = json::parse(ReadText(folder_ / "run.json"));
  EXPECT_EQ(document["otherData"]["scenario"], "two");
  EXPECT_GT(document["traceEvents"].size(), 100U);
  EXPECT_THAT(Files("."), Not(testing::Contains(StartsWith("run.json."))));
}

TEST_F(ToolsTest, PerfettoAndAtAreForOneRun) {
  Write("d/one.json", kQuiet);
  Write("d/two.json", kTwoBelieve);
  ExpectUsageError("replay d --perfetto run.json",
                   "--perfetto shows one run of one scenario, and here are 2");
  ExpectUsageError("replay d/one.json --perfetto run.json --repeat 2",
                   "it does not go with --repeat");
  ExpectUsageError("replay d --at 1s", "--at shows one run of one scenario");
  ExpectUsageError("replay d/one.json --at 1s --repeat 2", "it does not go with --repeat");
  ExpectUsageError("replay d/one.json --explain --repeat 2", "it does not go with --repeat");
  EXPECT_FALSE(fs::exists(folder_ / "run.json"));
}

// --- replay --explain ----------------------------------------------------------------------------

TEST_F(ToolsTest, ExplainTellsTheStoryUnderTheTable) {
  Write("two.json", kTwoBelieve);
  // Half of all seeds hand out a smaller token before the two believe.
  std::string arguments;
  Ended ended;
  for (int seed = 1; seed <= 30; ++seed) {
    arguments = "replay two.json --explain --seed " + std::to_string(seed);
    ended = Whorl(arguments);
    if (ended.out.find("\nsingle_leader_belief violated") != std::string::npos) break;
  }
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(
      ended.out,
      AllOf(StartsWith("verdict"), ContainsRegex("single_leader_belief violated at [0-9.]+ s by b"),
            HasSubstr("a  fault: pause (line 4), not over yet"),
            HasSubstr("<- single_leader_belief\n"), HasSubstr("b and a believe that they lead\n"),
            HasSubstr("1 scenario: 1 not judged")));
  const json story = json::parse(Whorl(arguments + " --json").out)["scenarios"][0]["run"]["story"];
  EXPECT_EQ(story["invariant"], "single_leader_belief");
  EXPECT_GT(story["lines"].size(), 5U);
}

// A violation of a belief is no damage yet: what was written, and what refused it, is.
TEST_F(ToolsTest, ExplainTellsTheHarmAndTheFaultThatMadeItPossible) {
  const std::string incident = WHORL_SOURCE_DIR "/scenarios/gc_pause_stale_token.json";
  EXPECT_THAT(
      Whorl("replay " + incident + " --explain").out,
      AllOf(HasSubstr("  a  runs again\n"),
            HasSubstr("  a  its stale write arrives, and the resource that fences refuses it"),
            HasSubstr("made possible by: the pause of a (line 11); without it this run does not "
                      "violate single_worker\n")));
  // A fault that has nothing to do with it is not named, and two that need each other are.
  Write("two_faults.json", R"({
  "version": 1, "about": "a", "protocol": "spindle_v2", "lease": "5s", "seed": 4,
  "nodes": ["a", { "name": "b", "start_at": "2s" }], "duration": "60s",
  "workload": { "write_every": "500ms", "work_for": "50ms", "resource": "both" },
  "faults": [
    { "at": "10s", "do": "pause", "node": "b", "for": "100ms" },
    { "when": { "node": "a", "step": "has_lock", "phase": "ended", "count": 40 }, "do": "pause", "node": "a", "for": "12s" }
  ]})");
  EXPECT_THAT(Whorl("replay two_faults.json --explain=single_worker").out,
              HasSubstr("made possible by: the pause of a (line 7); without it this run"));
  // A run that follows a schedule names its faults, so none can be left out.
  EXPECT_THAT(
      Whorl("replay " WHORL_SOURCE_DIR "/scenarios/s3_told_event_by_event.json --explain").out,
      Not(HasSubstr("made possible by")));
}

// A reply that was lost before the violating round began is why its process knew nothing.
TEST_F(ToolsTest, ExplainNamesAFaultThatWasOverBeforeTheRoundAndTheCallThatItStruck) {
  const std::string late = WHORL_SOURCE_DIR "/scenarios/v2_deadline_counts_from_the_reply.json";
  EXPECT_THAT(
      Whorl("replay " + late + " --explain=single_leader_belief").out,
      AllOf(
          HasSubstr("22.505321"), HasSubstr("  a  heartbeat committed: row lock: "),
          HasSubstr("  a  fault: pause (line 11) until 30.509321\n"),
          HasSubstr("  a  its stale write arrives, and the resource that does not fence accepts")));
}

TEST_F(ToolsTest, ExplainSaysInOneLineThatNothingWasViolated) {
  Write("quiet.json", kQuiet);
  EXPECT_THAT(Whorl("replay quiet.json --explain").out, HasSubstr("\n\nnothing was violated\n\n"));
  EXPECT_THAT(Whorl("replay quiet.json --explain=no_wedge").out,
              HasSubstr("\n\nno_wedge was not violated\n\n"));
}

TEST_F(ToolsTest, ExplainTellsOfTheInvariantThatIsNamedWhateverCameBeforeIt) {
  const std::string file = WHORL_SOURCE_DIR "/scenarios/everybody_cut_off.json";
  EXPECT_THAT(Whorl("replay " + file + " --explain").out,
              HasSubstr("\nlease_respected violated at"));
  EXPECT_THAT(Whorl("replay " + file + " --explain=single_leader_belief").out,
              HasSubstr("\nsingle_leader_belief violated at"));
}

// --- replay --at ---------------------------------------------------------------------------------

TEST_F(ToolsTest, AtShowsTheStateThen) {
  Write("two.json", kTwoBelieve);
  EXPECT_THAT(Whorl("replay two.json --seed 1 --at 12.5s"),
              Ends(0, AllOf(StartsWith("scenario: two\nprotocol: spindle_v2\nseed: 1\nat: 12.5\n"),
                            HasSubstr("    paused: yes\n"), HasSubstr("believes: yes"))));
  const json state = json::parse(Whorl("replay two.json --seed 1 --at 12500ms --json").out);
  EXPECT_EQ(state["format"], "whorl-state");
  EXPECT_EQ(state["nodes"][0]["paused"], true);
  EXPECT_EQ(Whorl("replay two.json --seed 1 --at 12.5s --out s.json").code, 0);
  EXPECT_EQ(json::parse(ReadText(folder_ / "s.json")), state);
  EXPECT_EQ(Whorl("replay two.json --seed 1 --at 30s").code, 0) << "the end is a time of the run";
}

TEST_F(ToolsTest, ATimeThatIsNoneIsRefused) {
  Write("two.json", kTwoBelieve);
  ExpectUsageError("replay two.json --at 31s",
                   "--at 31s is after the end: the scenario's duration is 30s");
  ExpectUsageError("replay two.json --at 5", "\"5\" has no unit");
  ExpectUsageError("replay two.json --at=-5s", "--at wants a time since the start");
  ExpectUsageError("replay two.json --at 5s --timeline", "it does not go with --timeline");
  EXPECT_THAT(Whorl("replay missing.json --at 5s"),
              Complains(2, HasSubstr("missing.json: cannot be read")));
}

// --- diff ----------------------------------------------------------------------------------------

TEST_F(ToolsTest, DiffSaysWhetherAndWhereTracesDiffer) {
  Write("two.json", kTwoBelieve);
  ASSERT_EQ(Whorl("replay two.json --seed 1 --trace t --repeat 2").code, 0);
  ASSERT_EQ(Whorl("replay two.json --seed 1 --trace u").code, 0);
  const Ended equal = Whorl("diff t/two.1.jsonl u/two.1.jsonl");
  EXPECT_EQ(equal.code, 0) << equal.err;
  EXPECT_THAT(equal.out, testing::MatchesRegex("equal: [0-9,]+ events\n"));
  EXPECT_THAT(
      Whorl("diff t/two.1.jsonl t/two.2.jsonl"),
      Ends(1, AllOf(HasSubstr("the heads differ"), HasSubstr("  seed: \"1\" / \"2\"\n"),
                    HasSubstr("the first event that differs is number "), HasSubstr("\n- {\"n\":"),
                    HasSubstr("\n+ {\"n\":"), HasSubstr("it differs in:\n"))));
  const json document = json::parse(Whorl("diff t/two.1.jsonl t/two.2.jsonl --json").out);
  EXPECT_EQ(document["equal"], false);
  EXPECT_EQ(document["first"]["a"]["n"], document["first"]["n"]);
  EXPECT_EQ(json::parse(Whorl("diff t/two.1.jsonl u/two.1.jsonl --json").out)["equal"], true);
}

TEST_F(ToolsTest, DiffRefusesWhatIsNoTrace) {
  Write("two.json", kTwoBelieve);
  ASSERT_EQ(Whorl("replay two.json --seed 1 --trace t").code, 0);
  const std::string trace = ReadText(folder_ / "t/two.1.jsonl");
  Write("cut.jsonl", trace.substr(0, trace.size() - 9));
  const auto lines = std::to_string(std::ranges::count(trace, '\n'));
  ExpectUsageError("diff t/two.1.jsonl cut.jsonl",
                   "cut.jsonl:" + lines + ": the last line is cut off");
  ExpectUsageError("diff two.json t/two.1.jsonl", "two.json:1: is no trace");
  ExpectUsageError("diff missing.jsonl t/two.1.jsonl",
                   "missing.jsonl: cannot be read: No such file");
  ExpectUsageError("diff t t/two.1.jsonl", "t: cannot be read: it is a folder");
  ExpectUsageError("diff t/two.1.jsonl", "diff wants two traces");
  ExpectUsageError("diff", "diff wants two traces");
}

// --- new -----------------------------------------------------------------------------------------

TEST_F(ToolsTest, NewWritesAScenarioThatReplaysAsExpected) {
  EXPECT_THAT(Whorl("new my.json"), Ends(0, AllOf(StartsWith("my.json: try "),
                                                  EndsWith(" replay my.json --timeline\n"))));
  EXPECT_THAT(Whorl("replay my.json"), Ends(0));
  const Ended printed = Whorl("new --protocol spindle_v2");
  EXPECT_EQ(printed.out, ReadText(folder_ / "my.json"));
  EXPECT_EQ(Shell("\"$W\" new | \"$W\" replay -").code, 0);
}

// The command does not overwrite a user's file by accident.
TEST_F(ToolsTest, NewOverwritesNothingUnlessItIsForced) {
  Write("my.json", "mine");
  ExpectUsageError("new my.json", "my.json: is there already; --force writes over it");
  EXPECT_EQ(ReadText(folder_ / "my.json"), "mine");
  EXPECT_EQ(Whorl("new my.json --force").code, 0);
  EXPECT_THAT(ReadText(folder_ / "my.json"), HasSubstr("\"version\": 1"));
  fs::create_directory(folder_ / "d");
  ExpectUsageError("new d --force", "d: is a folder");
  EXPECT_EQ(Shell("ln -s nowhere l && \"$W\" new l").code, 2) << "a link that leads nowhere";
}

// --- replay --html -------------------------------------------------------------------------------

// What a page shows is tested in a browser, by page/tests/run.mjs.
TEST_F(ToolsTest, HtmlWritesOneRunAsAPageOrSaysWhatIsMissing) {
  Write("two.json", kTwoBelieve);
  const Ended ended = Whorl("replay two.json --seed 1 --html run.html");
  if (ended.code == 3) {
    EXPECT_THAT(ended.err, HasSubstr("this command was built without pages"));
    EXPECT_THAT(ended.err, HasSubstr("./dev build"));
    EXPECT_THAT(Files("."), Not(testing::Contains("run.html")));
    GTEST_SKIP() << "built without pages";
  }
  EXPECT_EQ(ended.code, 0) << ended.err;
  const std::string page = ReadText(folder_ / "run.html");
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_THAT(page,
              HasSubstr("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("\"name\":\"two\""));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, Not(HasSubstr("https://")));
  EXPECT_EQ(Whorl("replay two.json --seed 1 --html again.html").code, 0);
  EXPECT_EQ(ReadText(folder_ / "again.html"), page);
}

TEST_F(ToolsTest, HtmlIsForOneSimulatedRun) {
  Write("d/one.json", kQuiet);
  Write("d/two.json", kTwoBelieve);
  ExpectUsageError("replay d --html run.html",
                   "--html shows one run of one scenario, and here are 2");
  ExpectUsageError("replay d/one.json --html run.html --repeat 2", "it does not go with --repeat");
  ExpectUsageError("replay d/one.json --html run.html --at 1s", "it does not go with --html");
  ExpectUsageError("replay d/one.json --html d/one.json", "would write over the scenario");
}

// --- diff --html, and report ---------------------------------------------------------------------

TEST_F(ToolsTest, DiffWritesBothRunsAsAPageAndOverNoTrace) {
  Write("two.json", kTwoBelieve);
  ASSERT_EQ(Whorl("replay two.json --seed 1 --repeat 2 --trace t").code, 0);
  ExpectUsageError("diff t/two.1.jsonl t/two.2.jsonl --html t/two.2.jsonl",
                   "would write over the trace");
  ExpectUsageError("diff t/two.1.jsonl /dev/null --html x.html", "reads a trace twice");
  const Ended ended = Whorl("diff t/two.1.jsonl t/two.2.jsonl --html both.html");
  if (ended.code == 3) GTEST_SKIP() << ended.err;
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.out, HasSubstr("the first event that differs"));
  EXPECT_THAT(ReadText(folder_ / "both.html"), HasSubstr("\"names\":[\"t/two.1.jsonl\""));
}

TEST_F(ToolsTest, DiffNearestShowsAFailingRunBesideOneThatPasses) {
  const std::string race = WHORL_SOURCE_DIR "/scenarios/semaphore_pause_two_leaders.json";
  EXPECT_THAT(
      Whorl("diff " + race + " --nearest"),
      Ends(1, AllOf(HasSubstr("seed 1: single_leader_belief violated at 12.513106 s"),
                    HasSubstr("the nearest run that passes draws chance anew from 10.000000 s on"),
                    HasSubstr("from 10.000451 s on none of 200 does: chance has no part in it"),
                    HasSubstr("the first event that differs is number 466"), HasSubstr("\n- {"),
                    HasSubstr("\n+ {"))));
  const json document = json::parse(Whorl("diff " + race + " --nearest --jobs 3 --json").out);
  EXPECT_EQ(document["violated"], "single_leader_belief");
  EXPECT_EQ(document["nearest"]["common"], 465);
  EXPECT_EQ(document["difference"]["first"]["n"], 466);
  const Ended page = Whorl("diff " + race + " --nearest --html both.html");
  if (page.code == 3) GTEST_SKIP() << page.err;
  EXPECT_THAT(ReadText(folder_ / "both.html"), HasSubstr("the nearest run that passes"));
}

TEST_F(ToolsTest, DiffNearestSaysWhereThereIsNothingToShow) {
  Write("quiet.json", kQuiet);
  Write("two.json", kTwoBelieve);
  EXPECT_THAT(Whorl("diff quiet.json --nearest"), Ends(0, HasSubstr("no invariant is violated")));
  const Ended decided = Whorl("diff " WHORL_SOURCE_DIR
                              "/scenarios/gc_pause_stale_token.json --nearest --html x.html");
  if (decided.code == 3) GTEST_SKIP() << decided.err;
  EXPECT_EQ(decided.code, 1) << decided.err;
  EXPECT_THAT(decided.out, HasSubstr("the scenario decides it"));
  EXPECT_FALSE(fs::exists(folder_ / "x.html"));
  ExpectUsageError("diff two.json two.json --nearest", "wants one scenario");
  ExpectUsageError("diff two.json --nearest --html two.json", "would write over the scenario");
  ExpectUsageError("diff a b --seed 1", "--seed is for the run of a scenario; it wants --nearest");
  ExpectUsageError("diff two.json --nearest --invariant no_wegde", "did you mean \"no_wedge\"");
}

// --- replay --jepsen -----------------------------------------------------------------------------

TEST_F(ToolsTest, JepsenWritesOneRunAsAHistory) {
  Write("two.json", kTwoBelieve);
  EXPECT_THAT(Whorl("replay two.json --seed 1 --jepsen history.edn"), Ends(0));
  const std::string history = ReadText(folder_ / "history.edn");
  EXPECT_THAT(history, StartsWith("; whorl "));
  EXPECT_THAT(history, HasSubstr("\n{:index 0, :time 0, :type :invoke, :process 0, :f :acquire, "));
  ExpectUsageError("replay two.json --jepsen x --repeat 2", "it does not go with --repeat");
  ExpectUsageError("replay two.json --jepsen two.json", "would write over the scenario");
}

TEST_F(ToolsTest, ReportIndexesTheRunsOfAFolderAndLinksTheirPages) {
  Write("d/quiet.json", kQuiet);
  Write("d/two.json", kTwoBelieve);
  ExpectUsageError("report d", "report wants scenarios");
  ExpectUsageError("report d --html d/two.json", "would write over the scenario");
  const Ended ended = Whorl("report d --html out/index.html --pages out/pages");
  if (ended.code == 3 && ended.err.find("built without pages") != std::string::npos) {
    GTEST_SKIP() << ended.err;
  }
  EXPECT_EQ(ended.code, 3) << "the folder of the index is not there";
  EXPECT_THAT(
      Shell("mkdir out && \"$W\" report d --html out/index.html --pages out/pages"),
      Ends(1, HasSubstr("2 runs, 1 as expected; a promise was broken in 0: out/index.html")));
  const std::string index = ReadText(folder_ / "out/index.html");
  EXPECT_THAT(index, HasSubstr("\"page\":\"pages/two.html\""));
  EXPECT_THAT(Files("out/pages"), testing::UnorderedElementsAre("quiet.html", "two.html"));
}

// --- replay --mermaid ----------------------------------------------------------------------------

TEST_F(ToolsTest, MermaidPrintsOneRunAsADiagramAndNothingElse) {
  Write("two.json", kTwoBelieve);
  EXPECT_THAT(Whorl("replay two.json --seed 1 --mermaid"),
              Ends(0, testing::AllOf(StartsWith("sequenceDiagram\nparticipant n0 as "),
                                     HasSubstr("single_leader_belief violated"),
                                     Not(HasSubstr("1 scenario")))));
  ExpectUsageError("replay two.json --mermaid --timeline", "it does not go with --timeline");
  ExpectUsageError("replay two.json --mermaid --repeat 2", "it does not go with --repeat");
}

// --- output that cannot be written, and interrupts -----------------------------------------------

TEST_F(ToolsTest, OutputThatCannotBeWrittenIsExitCode3) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  Write("two.json", kTwoBelieve);
  ASSERT_EQ(Whorl("replay two.json --seed 1 --trace t").code, 0);
  for (const std::string line :
       {"replay two.json --perfetto /dev/full", "replay two.json --perfetto no/such/run.json",
        "replay two.json --explain >/dev/full", "replay two.json --at 5s >/dev/full",
        "replay two.json --at 5s --json >/dev/full", "replay two.json --at 5s --out /dev/full",
        "diff t/two.1.jsonl t/two.1.jsonl >/dev/full", "new >/dev/full", "new --force /dev/full",
        "new no/such/my.json"}) {
    EXPECT_THAT(Shell("\"$W\" " + line), Complains(3, StartsWith("whorl: "))) << line;
  }
}

// A picture of a long run takes a while, and half of one is no picture.
TEST_F(ToolsTest, AnInterruptLeavesNoHalfPicture) {
  std::string text(kQuiet);
  text.replace(text.find("\"20s\""), 5, "\"87600h\"");
  Write("long.json", text);
  const auto is_writing = [&] {
    return std::ranges::any_of(Files("."), [&](const std::string& name) {
      return name.starts_with("run.json.") && fs::file_size(folder_ / name) > 0;
    });
  };
  EXPECT_EQ(InterruptedWhen("replay long.json --perfetto run.json", is_writing), 130);
  for (const std::string& name : Files(".")) EXPECT_THAT(name, Not(StartsWith("run.json")));
}

}  // namespace
}  // namespace whorl::tools_test
