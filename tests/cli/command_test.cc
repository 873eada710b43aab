// Runs the built command as people and scripts do, and checks its output, messages and exit codes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "tests/cli/cli_testing.h"

namespace whorl::command_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kWantsTooMuch = R"({
  "version": 1, "about": "Expects what cannot be.", "protocol": "spindle_v2", "lease": "2s",
  "nodes": ["a", { "name": "b", "start_at": "1s" }], "duration": "20s", "seed": 5,
  "expect": { "metrics": { "grants": { "min": 99 } } }
})";
constexpr std::string_view kBad = R"({
  "version": 1, "about": "Two mistakes.", "protocol": "spindle_v2",
  "nodes": ["a", "b"], "duraton": "20s",
  "faults": [ { "at": "1s", "do": "crash", "node": "bb" } ]
})";

// --- help --------------------------------------------------------------------------------------

// Help is what people try first; it goes to stdout, so that it can be paged, and it shows by
// example what to type.
TEST_F(CliTest, HelpIsOnStdoutEverywhereWithExamples) {
  for (const std::string arguments : {"--help", "-h", "protocols --help"}) {
    EXPECT_THAT(Whorl(arguments),
                Ends(0, AllOf(HasSubstr("Usage: whorl"), HasSubstr("Examples:")), IsEmpty()))
        << arguments;
  }
  for (const std::string command :
       {"replay", "hunt", "explore", "check", "new", "diff", "report"}) {
    EXPECT_THAT(Whorl(command + " --help"),
                Ends(0,
                     AllOf(HasSubstr("Usage: whorl " + command), HasSubstr("Examples:"),
                           HasSubstr("Exit codes:")),
                     IsEmpty()));
    EXPECT_THAT(Whorl("--help").out, HasSubstr("  " + command + " "));
  }
  EXPECT_THAT(Whorl("hunt --help").out,
              AllOf(HasSubstr("--merge"), HasSubstr("--beyond-assumptions")));
  EXPECT_THAT(Whorl("explore --help").out, HasSubstr("--horizon"));
}

// As people type it who know git.
TEST_F(CliTest, HelpIsAWordToo) {
  EXPECT_EQ(Whorl("help").out, Whorl("--help").out);
  EXPECT_EQ(Whorl("help hunt").out, Whorl("hunt --help").out);
  EXPECT_EQ(Whorl("help bench takeover").out, Whorl("bench takeover --help").out);
}

// Nobody knows the names of all faults by heart.
TEST_F(CliTest, AWordThatPeopleMeanByAFaultIsAnsweredWithIt) {
  for (const auto& [word, fault] : {std::pair("gc", "\"pause\""),
                                    {"network", "\"partition\""},
                                    {"disk", "\"slow_resource\""},
                                    {"Clock-Skew", "\"clock\""},
                                    {"oom", "\"crash\""},
                                    {"deploy", "\"stop\""}}) {
    EXPECT_THAT(Whorl(std::string("hunt --faults ") + word),
                Complains(2, AllOf(HasSubstr("unknown fault"), HasSubstr(fault))))
        << word;
  }
}

// A report of a problem is worth more with the version in it.
TEST_F(CliTest, VersionIsOneLine) {
  EXPECT_THAT(Whorl("--version"),
              Ends(0, testing::MatchesRegex("whorl [0-9]+\\.[0-9]+\\.[0-9]+\n")));
}

// --- usage errors ------------------------------------------------------------------------------

// The answer to a typo suggests the nearest word, with the exit code for bad usage.
TEST_F(CliTest, TyposGetTheNearestWordAndExitCode2) {
  struct Case {
    std::string arguments;
    std::string message;
  };
  for (const Case& typo : {Case{"replya", "unknown sub-command replya; did you mean replay?"},
                           Case{"replay --sed 7", "unknown option --sed; did you mean --seed?"},
                           Case{"replay --jsn=1", "unknown option --jsn; did you mean --json?"},
                           Case{"--verison", "did you mean --version?"},
                           Case{"protocols --jason", "did you mean --json?"}}) {
    EXPECT_THAT(Whorl(typo.arguments),
                Ends(2, IsEmpty(), AllOf(StartsWith("whorl: "), HasSubstr(typo.message))))
        << typo.arguments;
  }
}

// Options that make no sense are refused before any work is done, with a remedy.
TEST_F(CliTest, ImpossibleArgumentsAreRefused) {
  const std::string file = Write("quiet.json", kQuiet);
  for (const std::string arguments :
       {"", "replay", "replay quiet.json --seed -1", "replay quiet.json --seed 1.5",
        "replay quiet.json --seed 18446744073709551616", "replay quiet.json --repeat 0",
        "replay quiet.json --jobs 0", "replay quiet.json --jobs many", "replay quiet.json --seed",
        "replay quiet.json --timeline --json", "replay quiet.json --timeline --repeat 2",
        "replay quiet.json --seed 18446744073709551615 --repeat 2", "protocols extra"}) {
    EXPECT_THAT(Whorl(arguments), Ends(2, IsEmpty(), Not(IsEmpty()))) << arguments;
  }
  EXPECT_THAT(Whorl("replay quiet.json --jobs 0").err, HasSubstr("from 1 to"));
}

// --- replay ------------------------------------------------------------------------------------

// Another program serves --on, but it is an option like every other: if it is not given as an option,
// nothing is handed over, and its value is checked before anything is handed over.
TEST_F(CliTest, OnIsReadAsEveryOtherOption) {
  Write("quiet.json", kQuiet);
  ExpectUsageError("replay quiet.json --on mars", "--on: unknown backend \"mars\"");
  ExpectUsageError("replay quiet.json --on=servr", "did you mean \"server\"?");
  ExpectUsageError("bench takeover --on mars", "--on: unknown backend \"mars\"");
  ExpectUsageError("replay quiet.json --sed 3 --on server", "did you mean --seed?");
  ExpectUsageError("hunt --on server", "unknown option --on");
  ExpectUsageError("replay quiet.json --save x.json", "--save is for real runs; it wants --on");
  ExpectUsageError("replay quiet.json --longest 3m", "--longest is for real runs");
  ExpectUsageError("replay quiet.json -- --on=server", "unexpected argument --on=server");
}

// The exit code is what a script sees: 0 only when everything was as expected.
TEST_F(CliTest, ExitCodeTellsWhetherAllWasAsExpected) {
  Write("good/quiet.json", kQuiet);
  Write("good/my.schema.json", "{}");
  Write("mixed/quiet.json", kQuiet);
  Write("mixed/wants.json", kWantsTooMuch);
  EXPECT_THAT(Whorl("replay good"),
              Ends(0, AllOf(ContainsRegex("ok +quiet "), HasSubstr("1 scenario: 1 as expected")),
                   IsEmpty()));
  EXPECT_THAT(Whorl("replay mixed"),
              Ends(1, AllOf(ContainsRegex("FAILED +wants "),
                            HasSubstr("         expected grants of at least 99, but it was "),
                            HasSubstr(" replay mixed/wants.json --seed 5 --timeline\n"),
                            HasSubstr("2 scenarios: 1 as expected, 1 failed"))));
}

// One bad file must neither hide the others nor pass for a success.
TEST_F(CliTest, BadFilesAreReportedWholeAndTheOthersStillRun) {
  Write("bad.json", kBad);
  Write("quiet.json", kQuiet);
  EXPECT_THAT(
      Whorl("replay bad.json quiet.json missing.json"),
      Ends(2,
           AllOf(ContainsRegex("ok +quiet "), HasSubstr("1 scenario: 1 as expected; 2 bad inputs")),
           AllOf(ContainsRegex("bad\\.json:3: .*did you mean \"duration\""),
                 ContainsRegex("bad\\.json:4: /faults/0/node: .*\"bb\""),
                 HasSubstr("missing.json: cannot be read"))));
}

// A folder without scenarios is a wrong path, and "nothing failed" would be a lie.
TEST_F(CliTest, AFolderWithoutScenariosIsAnError) {
  Write("empty/my.schema.json", "{}");
  EXPECT_THAT(Whorl("replay empty"),
              Ends(2, IsEmpty(), StartsWith("empty: no scenario in this folder")));
}

// A generator's output can be tried without a file.
TEST_F(CliTest, AScenarioCanComeFromStandardInputOnce) {
  Write("quiet.json", kQuiet);
  EXPECT_THAT(Shell("\"$W\" replay - <quiet.json"), Ends(0, ContainsRegex("ok +stdin ")));
  EXPECT_EQ(Shell("\"$W\" replay - - <quiet.json").code, 2);
}

// Another seed is another run: its author has said nothing about it.
TEST_F(CliTest, OtherSeedsAreCountedAndNotJudged) {
  Write("wants.json", kWantsTooMuch);
  EXPECT_THAT(Whorl("replay wants.json --seed 6"),
              Ends(0, AllOf(ContainsRegex("ran +wants "), HasSubstr("1 not judged"))));
  EXPECT_EQ(Whorl("replay wants.json --seed 6 --repeat 3").code, 0);
  EXPECT_THAT(Whorl("replay wants.json --seed 3 --repeat 3"),
              Ends(1, HasSubstr("seed 5, the file's own: expected ")))
      << "seed 5 is among them";
  EXPECT_THAT(Whorl("replay wants.json").out, Not(HasSubstr("the file's own")));
}

// Scripts read one document from stdout; anything beside it would break them.
TEST_F(CliTest, JsonIsOneDocumentAndNothingElse) {
  Write("quiet.json", kQuiet);
  Write("bad.json", kBad);
  const Ended ended = Whorl("replay quiet.json bad.json --json");
  EXPECT_EQ(ended.code, 2);
  const json document = json::parse(ended.out);
  EXPECT_EQ(document["summary"]["as_expected"], 1);
  EXPECT_EQ(document["scenarios"][0]["verdict"], "ok");
  EXPECT_THAT(document["scenarios"][0]["run"]["hash"].get<std::string>(),
              testing::MatchesRegex("[0-9a-f]+"));
  EXPECT_EQ(document["scenarios"][0]["run"]["invariants"].size(), 16U);
  EXPECT_EQ(document["bad_inputs"][0]["errors"].size(), 3U);
  EXPECT_FALSE(json::parse(Whorl("protocols --json").out)["protocols"].empty());
}

// The number of threads and the time of day are no inputs of a run.
TEST_F(CliTest, OutputDoesNotDependOnTheNumberOfJobs) {
  for (const char name : {'a', 'b', 'c', 'd'}) Write(std::string(1, name) + ".json", kQuiet);
  const auto run = [&](const std::string& jobs) {
    json document = json::parse(Whorl("replay . --repeat 5 --json --jobs " + jobs).out);
    for (json& scenario : document["scenarios"]) {
      scenario["run"].erase("wall_seconds");
      scenario["repeat"].erase("wall_seconds");
    }
    return document;
  };
  const json one = run("1");
  EXPECT_EQ(one, run("3"));
  EXPECT_EQ(one["scenarios"][3]["name"], "d");
  EXPECT_EQ(one["scenarios"][3]["repeat"]["runs"].size(), 5U);
}

// A run that cannot be repeated is worth nothing; the check has to pass where it can.
TEST_F(CliTest, DeterminismCheckPassesOnARepeatableRun) {
  Write("quiet.json", kQuiet);
  EXPECT_EQ(Whorl("replay quiet.json --check-determinism --trace t --timeline").code, 0);
}

// The timeline is the first thing to look at when something failed.
TEST_F(CliTest, TimelineIsPlainTextWhereThereIsNoTerminal) {
  Write("quiet.json", kQuiet);
  EXPECT_THAT(Whorl("replay quiet.json --timeline"),
              Ends(0, AllOf(HasSubstr("spanner"), HasSubstr("lock: token "),
                            HasSubstr("HasLock: yes"), Not(HasSubstr("\x1b")))));
}

// --- files -------------------------------------------------------------------------------------

// A trace is found by its scenario and seed, and no temporary file stays beside it.
TEST_F(CliTest, TracesAreNamedByScenarioAndSeed) {
  Write("quiet.json", kQuiet);
  EXPECT_EQ(Whorl("replay quiet.json --trace new/traces --repeat 2").code, 0);
  EXPECT_THAT(Files("new/traces"), testing::ElementsAre("quiet.5.jsonl", "quiet.6.jsonl"));
  const std::string trace = ReadText(folder_ / "new/traces/quiet.5.jsonl");
  EXPECT_THAT(trace, StartsWith("{\"format\":\"whorl-trace\""));
  EXPECT_THAT(trace, testing::EndsWith("\"event\":\"run_ended\"}\n"));
}

// Two files of one name would overwrite each other's traces without a word.
TEST_F(CliTest, TwoScenariosThatWouldWriteOneTraceAreRefused) {
  Write("x/quiet.json", kQuiet);
  Write("y/quiet.json", kQuiet);
  EXPECT_EQ(Whorl("replay x y").code, 0);
  EXPECT_THAT(Whorl("replay x y --trace traces"), Complains(2, HasSubstr("the same trace")));
}

// --out leaves the table for people on stdout and puts the document into the file.
TEST_F(CliTest, OutWritesTheDocumentIntoAFileAndKeepsTheLinkToIt) {
  Write("quiet.json", kQuiet);
  Write("real.json", "old");
  EXPECT_THAT(
      Shell("mkdir o && mv real.json o && ln -s o/real.json link && \"$W\" replay quiet.json "
            "--out link"),
      Ends(0, HasSubstr("1 scenario: 1 as expected")));
  EXPECT_EQ(json::parse(ReadText(folder_ / "o/real.json"))["summary"]["scenarios"], 1);
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_THAT(Files("o"), testing::ElementsAre("real.json"));
}

// A report that is not there must not look like one that is.
TEST_F(CliTest, OutputThatCannotBeWrittenIsExitCode3) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  Write("quiet.json", kQuiet);
  for (const std::string line :
       {"\"$W\" replay quiet.json >/dev/full", "\"$W\" replay quiet.json --json >/dev/full",
        "\"$W\" replay quiet.json --out /dev/full", "\"$W\" replay quiet.json --out no/such/dir",
        "\"$W\" replay quiet.json --trace /dev/null/x", "\"$W\" protocols >/dev/full",
        "\"$W\" --version >/dev/full", "\"$W\" --help >/dev/full"}) {
    EXPECT_THAT(Shell(line), Complains(3, StartsWith("whorl: "))) << line;
  }
}

// A typo in a duration must not cost a day.
TEST_F(CliTest, ARunOfMoreThanABillionEventsIsRefused) {
  Write("long.json", R"({
    "version": 1, "about": "Ten years of a short lease.", "protocol": "spindle_v2", "lease": "2s",
    "nodes": ["a", "b"], "duration": "87600h"})");
  EXPECT_THAT(Whorl("replay long.json"),
              Complains(2, AllOf(StartsWith("whorl: long.json: would take about "),
                                 HasSubstr(" million events"), HasSubstr("--unlimited"))));
}

// `whorl replay | head -1` is a usual command, and must not end by a signal.
TEST_F(CliTest, AReaderThatHasGoneIsNoErrorAndNoCrash) {
  Write("quiet.json", kQuiet);
  for (const std::string arguments : {"replay quiet.json", "replay quiet.json --at 5s", "new"}) {
    // The reader is gone before the command begins: the shell gives it a pipe that nobody reads.
    EXPECT_THAT(Shell("rm -f pipe; mkfifo pipe; sh -c 'exec 3<>pipe 4>pipe 3<&-; \"$0\" " +
                      arguments + " >&4' \"$W\""),
                Complains(141, IsEmpty()))
        << arguments;
  }
}

// Ctrl-C means now, and no half-written file may be taken for a whole one.
TEST_F(CliTest, AnInterruptEndsItWith130AndLeavesNoTemporaryFile) {
  Write("quiet.json", kQuiet);
  // The work would take hours. It is at work when its first trace is there.
  EXPECT_EQ(InterruptedWhen("replay quiet.json --repeat 1000000 --trace t --out report.json",
                            [&] { return fs::exists(folder_ / "t/quiet.5.jsonl"); }),
            130);
  EXPECT_EQ(ReadText(folder_ / "err.txt"), "whorl: interrupted\n");
  for (const std::string& name : Files("t")) EXPECT_THAT(name, testing::EndsWith(".jsonl"));
  for (const std::string& name : Files(".")) EXPECT_THAT(name, Not(StartsWith("report.json")));
}

// Workers of large hunts are killed by the thousand: the next one takes what is left of the last, and no file
// of a command that still writes.
TEST_F(CliTest, AFileThatAKilledCommandLeftIsUsedAgainAndNoneThatIsWritten) {
  Write("quiet.json", kQuiet);
  const std::string begin =
      "\"$W\" hunt --protocol spindle_v2 --for 90s --jobs 1 --out x.jsonl >hunted & PID=$!\n"
      "while [ ! -e x.jsonl.whorl-1 ] && kill -0 $PID; do :; done\n";
  EXPECT_EQ(Shell(begin + "kill -KILL $PID; wait $PID; ls x.jsonl*").out, "x.jsonl.whorl-1\n");
  ASSERT_EQ(Whorl("replay quiet.json --out x.jsonl").code, 0);
  EXPECT_EQ(Shell("ls x.jsonl*").out, "x.jsonl\n");
  // Two at a time: each writes a file of its own.
  const Ended two = Shell(begin +
                          "\"$W\" replay quiet.json --out x.jsonl >replayed; ls x.jsonl*\n"
                          "grep -c whorl-replay x.jsonl; kill -TERM $PID; wait $PID\n"
                          "ls x.jsonl*; grep -c whorl-replay x.jsonl");
  EXPECT_EQ(two.out, "x.jsonl\nx.jsonl.whorl-1\n1\nx.jsonl\n0\n") << two.err;
}

}  // namespace
}  // namespace whorl::command_test
