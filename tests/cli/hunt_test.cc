// `whorl hunt` as people, scripts and batch systems use it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/cli/cli_testing.h"
#include "tests/cli/json_lines.h"

namespace whorl::cli_hunt_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Few short runs are enough for the tests.
constexpr const char* kSmall = "hunt --protocol spindle_v2 --duration 40s --runs 60 --seed 4 ";

class CliHuntTest : public CliTest {
 protected:
  Ended Small(const std::string& more = "") { return Whorl(kSmall + more); }
};

TEST_F(CliHuntTest, BadUsageNamesTheOptionAndTheNearestWord) {
  ExpectUsageError("hunt --protocl all", "did you mean --protocol?");
  ExpectUsageError("hunt --protocol spindle_v1",
                   "--protocol: unknown protocol \"spindle_v1\"; did "
                   "you mean \"spindle_v2\"?");
  ExpectUsageError("hunt --faults pause,partitoin", "did you mean \"partition\"?");
  ExpectUsageError("hunt --invariant no_wedges", "did you mean \"no_wedge\"?");
  ExpectUsageError("hunt --runs 0", "--runs wants a whole number from 1");
  ExpectUsageError("hunt --runs=-1", "--runs wants a whole number");
  ExpectUsageError("hunt --for 5", "--for: \"5\" has no unit");
  ExpectUsageError("hunt --for=-5s", "--for wants");
  ExpectUsageError("hunt --duration 1s", "--duration wants 10s to");
  ExpectUsageError("hunt --shard 3", "--shard wants I/N");
  ExpectUsageError("hunt --shard 0/3", "I of --shard I/N wants a whole number from 1 to 3");
  ExpectUsageError("hunt --shard 4/3", "I of --shard I/N wants a whole number from 1 to 3");
  ExpectUsageError("hunt --shard auto/0", "N of --shard I/N wants a whole number from 1");
  for (const char* code : {"2", "3"}) {
    ExpectUsageError(std::string("hunt --exit-code-found ") + code, "would look like");
  }
  ExpectUsageError("hunt --exit-code-found 126", "--exit-code-found wants a whole number from 0");
  ExpectUsageError("hunt --merge x.jsonl --runs 5", "--merge makes no runs; it does not go with");
  ExpectUsageError("hunt --show 5 --json", "--show makes no runs; it does not go with --json");
  ExpectUsageError("hunt --show 5 --promised",
                   "--show makes no runs; it does not go with --promised: leave it out");
  ExpectUsageError("hunt --show 5 --digests x", "--show makes no runs; it does not go with");
  ExpectUsageError("hunt --table . --json", "--table prints no findings; it does not go with");
}

// "3.4 %" without its whole is read as a share of the runs.
TEST_F(CliHuntTest, SaysOfWhatAPromiseWasNotMadeForAPart) {
  EXPECT_THAT(Whorl("hunt --protocol fenced_lease --runs 60 --seed 2").out,
              testing::ContainsRegex("\nfenced_lease: not promised for a part of the simulated "
                                     "time:\n  [a-z_]+ +[0-9.]+ % an operator"));
}

// The last line of a finding is a command that replays it, with the same result as in the hunt.
TEST_F(CliHuntTest, TheLastLineOfAFindingReplaysIt) {
  const Ended ended = Small("--invariant lease_respected --any");
  EXPECT_EQ(ended.code, 1) << ended.out;
  const size_t line = ended.out.find("  echo ");
  ASSERT_NE(line, std::string::npos) << ended.out;
  const std::string command = ended.out.substr(line, ended.out.find('\n', line) - line);
  EXPECT_THAT(Shell(command), Ends(0, HasSubstr("lease_respected violated at")));
}

// A screen of whole scenarios hides that none of them matters. The file that --save writes has the name that is
// shown without it.
TEST_F(CliHuntTest, AFindingThatDoesNotDecideNamesTheFileThatSaveWrites) {
  const Ended ended = Small("--invariant lease_respected");
  EXPECT_THAT(ended.out, Not(HasSubstr("  echo ")));
  constexpr std::string_view kBegin = "  with --save DIR: ";
  const size_t line = ended.out.find(kBegin);
  ASSERT_NE(line, std::string::npos) << ended.out;
  const size_t command = line + kBegin.size();
  Small("--invariant lease_respected --save DIR");
  EXPECT_THAT(Shell(ended.out.substr(command, ended.out.find('\n', command) - command)),
              Ends(0, HasSubstr("lease_respected violated at")));
}

TEST_F(CliHuntTest, SavesScenariosThatReplayAsExpected) {
  EXPECT_EQ(Small("--save found").code, 0);
  EXPECT_THAT(Files("found"), testing::Contains(testing::StartsWith("spindle_v2.lease_respected")));
  EXPECT_THAT(Whorl("replay found"), Ends(0, Not(HasSubstr("FAILED"))));
}

// A command without pages says so, and saves the scenarios all the same.
TEST_F(CliHuntTest, SavesAPageBesideEachScenarioUnlessToldNotTo) {
  const Ended ended = Small("--invariant lease_respected --save found");
  EXPECT_EQ(ended.code, 0);
  size_t scenarios = 0;
  size_t pages = 0;
  for (const std::string& name : Files("found")) {
    scenarios += name.ends_with(".json") ? 1 : 0;
    pages += name.ends_with(".html") ? 1 : 0;
  }
  EXPECT_GT(scenarios, 0U);
  const bool has_pages = ended.err.find("no pages beside the scenarios") == std::string::npos;
  EXPECT_EQ(pages, has_pages ? scenarios : 0U) << ended.err;
  EXPECT_EQ(Small("--invariant lease_respected --save bare --no-pages").code, 0);
  EXPECT_EQ(Files("bare").size(), scenarios);
  ExpectUsageError("hunt --no-pages", "it does not go without --save");
}

TEST_F(CliHuntTest, NothingFoundEndsWithZero) {
  EXPECT_THAT(Small("--promised"), Ends(0, HasSubstr("60 runs: 0 promises broken; exit code 0")));
}

// The page says which invariants hold, and links a scenario for each violation.
TEST_F(CliHuntTest, ATableLinksTheScenariosOfAFolder) {
  const std::string name = "s1_insert_loser_takes_over";
  Shell("mkdir some && cp " WHORL_SOURCE_DIR "/scenarios/" + name + ".json some");
  EXPECT_THAT(Small("--table some"),
              Ends(0,
                   AllOf(testing::StartsWith("| invariant | spindle_v2 |\n|---|---|\n"),
                         HasSubstr("| `one_live_token` | holds (57 runs) |\n"),
                         HasSubstr("| `lease_respected` | broken ([" + name + "](some/" + name +
                                   ".json)) |\n"),
                         HasSubstr("| `handed_token_monotonic` | broken |\n"),
                         HasSubstr("| `token_monotonic` | not promised |\n")),
                   Not(HasSubstr("shrunk"))));
  EXPECT_THAT(Small("--table nowhere"), Ends(2, IsEmpty(), HasSubstr("nowhere")));
}

// Standard output depends on the options alone.
TEST_F(CliHuntTest, JobsChangeNoByte) {
  for (const std::string form : {"", "--json "}) {
    const Ended one = Small(form + "--jobs 1");
    const Ended two = Small(form + "--jobs 2");
    EXPECT_EQ(one.out, two.out);
    EXPECT_EQ(one.code, 0);
  }
}

// Any batch system can spread a hunt: the parts add up to the whole.
TEST_F(CliHuntTest, ShardsMergeIntoTheWholeHunt) {
  const Ended whole = Small("--json");
  for (const std::string i : {"1", "2", "3"}) {
    const Ended shard = Small("--shard " + i + "/3 --out " + i + ".jsonl");
    EXPECT_THAT(shard.out, HasSubstr("of 3 shards, 1 is here"));
  }
  EXPECT_EQ(Whorl("hunt --merge 2.jsonl 3.jsonl 1.jsonl --json").out, whole.out);
  EXPECT_EQ(Whorl("hunt --merge 1.jsonl 2.jsonl 3.jsonl").out, Small().out);
  EXPECT_THAT(Whorl("hunt --merge 1.jsonl 3.jsonl").out, HasSubstr("of 3 shards, 2 are here"));
}

// As an engine starts a worker: it says by variables which part is whose.
TEST_F(CliHuntTest, AnEngineSaysWhichShardAWorkerHas) {
  const char* const variable = "JOB_COMPLETION_INDEX";
  for (const char* engine :
       {variable, "SLURM_ARRAY_TASK_ID", "AWS_BATCH_JOB_ARRAY_INDEX", "CLOUD_RUN_TASK_INDEX",
        "BATCH_TASK_INDEX", "TEST_SHARD_INDEX", "CI_NODE_INDEX"}) {
    unsetenv(engine);  // of the engine that runs this test
  }
  ExpectUsageError("hunt --shard auto/3", "--shard auto: ");
  const std::string by_hand = Small("--shard 2/3 --json").out;
  setenv(variable, "1", 1);
  const Ended by_engine = Small("--shard auto/3 --json");
  EXPECT_EQ(by_engine.out, by_hand);
  EXPECT_THAT(by_engine.err, HasSubstr("shard 2/3, by Kubernetes, JOB_COMPLETION_INDEX=1"));
  ExpectUsageError("hunt --shard auto", "give --shard auto/N");
  ExpectUsageError("hunt --shard auto/1", "from 0 to 0");
  unsetenv(variable);
}

// An engine that tries again what fails is told that a finding is no failure, and its kind of end.
TEST_F(CliHuntTest, WhatIsFoundEndsWithTheCodeThatIsAskedFor) {
  const Ended found = Small("--any --out found.jsonl");
  ASSERT_EQ(found.code, 1);
  EXPECT_THAT(
      Small("--any --exit-code-found 42"),
      Ends(42, Replaced(found.out, "; exit code 1, ", "; exit code 42 (--exit-code-found), ")));
  EXPECT_EQ(Whorl("hunt --merge found.jsonl --any").code, 1);
  EXPECT_EQ(Whorl("hunt --merge found.jsonl --any --exit-code-found 0").code, 0);
  EXPECT_EQ(Small("--promised --exit-code-found 42").code, 0);  // it found nothing
}

// A worker that cannot see a violation that is there must not report that there is none.
TEST_F(CliHuntTest, AHuntThatMissesItsCanaryIsVoid) {
  const Ended caught = Small("--shard 2/3 --canary spindle_v2 --json");
  EXPECT_EQ(caught.out, Small("--shard 2/3 --json").out);
  EXPECT_THAT(caught.err, HasSubstr("the canary, lease_respected of spindle_v2, was caught after"));
  EXPECT_THAT(
      Small("--canary fenced_lease --out report.jsonl"),
      Ends(3, IsEmpty(), HasSubstr("void: the canary, lease_respected of fenced_lease, was not")));
  EXPECT_FALSE(fs::exists(folder_ / "report.jsonl"));
  ExpectUsageError("hunt --canary spindle_v4", "did you mean");
}

// --- kinds and guidance --------------------------------------------------------------------------

// A reason to go on or to stop: in words, and as numbers that shards add up.
TEST_F(CliHuntTest, SaysHowMuchIsStillNew) {
  const json line = JsonLines(Small("--json").out).front();
  const json& kinds = line["kinds"];
  const auto known = kinds["known"].get<int64_t>();
  EXPECT_GT(known, 100);
  EXPECT_EQ(kinds["new"], known);  // of fewer than 1,000 runs, all are new
  EXPECT_EQ(kinds["all"].size(), static_cast<size_t>(3 * known));
  EXPECT_GT(kinds["runs_alone"], 0);
  EXPECT_LE(kinds["runs_alone"], 60);
  EXPECT_THAT(Small().out, HasSubstr("kinds of steps, "));
  EXPECT_THAT(Small().out, HasSubstr("the next run shows a new one with a probability of "));
  EXPECT_THAT(Small().out, HasSubstr(" %: more runs are still worth it\n"));
}

// Long enough for branches, which begin after 192 runs.
constexpr const char* kGuided =
    "hunt --protocol spindle_v2 --duration 20s --runs 264 --seed 4 --guide ";

TEST_F(CliHuntTest, AGuidedHuntDependsOnNeitherJobsNorInterruptions) {
  const std::string whole = Whorl(std::string(kGuided) + "--jobs 1 --json").out;
  EXPECT_EQ(Whorl(std::string(kGuided) + "--jobs 3 --json").out, whole);
  // As if it had been ended after 256 runs.
  Whorl(
      "hunt --protocol spindle_v2 --duration 20s --runs 256 --seed 4 --guide --checkpoint "
      "part.hunt");
  const std::string text = ReadText(folder_ / "part.hunt");
  const std::string asked = R"("runs":256,"shards")";
  ASSERT_THAT(text, HasSubstr(asked));
  Write("part.hunt", Replaced(text, asked, R"("runs":264,"shards")"));
  const Ended resumed = Whorl(std::string(kGuided) + "--checkpoint part.hunt --json");
  EXPECT_THAT(resumed.err, HasSubstr("going on after 256 runs"));
  EXPECT_EQ(resumed.out, whole);
}

// Each shard guides itself; the sum is one all the same.
TEST_F(CliHuntTest, GuidedShardsAddUpInAnyOrder) {
  for (const std::string i : {"1", "2"}) {
    Whorl("hunt --protocol spindle_v2 --duration 20s --runs 450 --seed 4 --guide --shard " + i +
          "/2 --out " + i + ".jsonl");
  }
  const Ended sum = Whorl("hunt --merge 1.jsonl 2.jsonl --json");
  EXPECT_EQ(Whorl("hunt --merge 2.jsonl 1.jsonl 2.jsonl --json").out, sum.out);
  EXPECT_EQ(JsonLines(sum.out).front()["runs"], 450);
  Small("--out plain.jsonl");
  ExpectUsageError("hunt --merge 1.jsonl plain.jsonl", "plain.jsonl: of another hunt");
}

// A branch is one line: its name gives its world.
TEST_F(CliHuntTest, ShowsTheWorldOfABranch) {
  const Ended shown = Whorl("hunt --protocol spindle_v2 --seed 4 --show 17@200:9@300:10");
  EXPECT_EQ(shown.code, 0);
  const json world = json::parse(shown.out);
  EXPECT_EQ(world["branches"],
            json::parse(R"([{"event": 200, "seed": 9}, {"event": 300, "seed": 10}])"));
  Write("branch.json", shown.out);
  EXPECT_NE(Whorl("replay branch.json").code, 2);
  ExpectUsageError("hunt --show 17@", "--show wants the number of a run, or the name of a branch");
  ExpectUsageError("hunt --compare spindle_v2 spindle_v3 --guide",
                   "--compare does not go with --guide");
}

// --- checkpoints ---------------------------------------------------------------------------------

TEST_F(CliHuntTest, AHuntGoesOnFromItsCheckpoint) {
  const std::string whole = Small("--shard 1/2 --json").out;
  const std::string resumed = "--shard 1/2 --checkpoint part.hunt ";
  EXPECT_EQ(Small(resumed + "--json").out, whole);
  // A hunt that is over tells its end again, without running anything.
  const Ended again = Small(resumed + "--json");
  EXPECT_EQ(again.out, whole);
  EXPECT_THAT(again.err, HasSubstr("going on after 30 runs of part.hunt"));
  EXPECT_THAT(again.err, HasSubstr("0 runs in"));
  // It is a report as any other.
  Small("--shard 2/2 --out other.jsonl");
  EXPECT_THAT(Whorl("hunt --merge part.hunt other.jsonl").out, HasSubstr("60 runs: "));
}

TEST_F(CliHuntTest, ACheckpointOfAnotherHuntIsRefused) {
  Small("--shard 1/2 --checkpoint part.hunt");
  const std::string at = " --checkpoint part.hunt";
  ExpectUsageError(kSmall + at, "it has --shard shard 1/2, and this one shard 1/1");
  ExpectUsageError("hunt --protocol spindle_v2 --duration 40s --runs 70 --seed 4 --shard 1/2" + at,
                   "it has --runs 60, and this one 70; name another file");
  ExpectUsageError("hunt --protocol spindle_v2 --duration 40s --runs 60 --seed 5 --shard 1/2" + at,
                   "it has --seed 4, and this one 5");
  ExpectUsageError(std::string(kSmall) + "--shard 1/2 --promised" + at, "it has other options");
  Small("--shard 1/2 --out report.jsonl");
  ExpectUsageError(std::string(kSmall) + "--shard 1/2 --checkpoint report.jsonl",
                   "is a report, and no checkpoint");
  const std::string text = ReadText(folder_ / "part.hunt");
  Write("cut.hunt", text.substr(0, text.size() - 20));
  ExpectUsageError(std::string(kSmall) + "--shard 1/2 --checkpoint cut.hunt", "cut.hunt: cut off");
  // Of a whorl whose runs end otherwise.
  const size_t hash = text.rfind("\"hash\":\"") + 8;
  std::string other = text;
  other[hash + 5] = other[hash + 5] == '1' ? '2' : '1';
  Write("other.hunt", other);
  ExpectUsageError(std::string(kSmall) + "--shard 1/2 --checkpoint other.hunt",
                   "ended otherwise in the whorl that wrote it");
  EXPECT_EQ(ReadText(folder_ / "part.hunt"), text);
  for (const char* option : {"--for 1s", "--digests d", "--from x.json"}) {
    ExpectUsageError(std::string("hunt --checkpoint x ") + option, "--checkpoint does not go with");
  }
  ExpectUsageError("hunt --checkpoint .", "is not a regular file");
}

// A disk that is full in the middle: it is told once, the hunt goes on to its report, what was saved before
// stays, and the same command goes on from there when there is room.
TEST_F(CliHuntTest, OnAFullDiskACheckpointStaysAsItWas) {
  const std::string whole = Small("--json").out;
  Whorl("hunt --protocol spindle_v2 --duration 40s --runs 20 --seed 4 --checkpoint part.hunt");
  const std::string text =
      Replaced(ReadText(folder_ / "part.hunt"), R"("runs":20,"shards")", R"("runs":60,"shards")");
  Write("part.hunt", text);
  const std::string hunt = "\"$W\" " + std::string(kSmall) + "--json --checkpoint part.hunt";
  const Ended at_once = Shell("trap '' XFSZ; ulimit -f 1; " + hunt);
  EXPECT_EQ(at_once.code, 3);  // before any run
  EXPECT_THAT(at_once.err, HasSubstr("part.hunt: cannot be written: "));
  EXPECT_EQ(ReadText(folder_ / "part.hunt"), text);
  // The present file fits into this limit; with the results of this hunt it does not.
  const std::string blocks = std::to_string((text.size() + 511) / 512);
  const Ended later = Shell("(trap '' XFSZ; ulimit -f " + blocks + "; " + hunt + ") | cat");
  EXPECT_EQ(later.out, whole);
  EXPECT_THAT(later.err, HasSubstr("part.hunt: cannot be written: "));
  EXPECT_THAT(Files("."), Not(testing::Contains(HasSubstr(".whorl-"))));
  const std::string kept = ReadText(folder_ / "part.hunt");
  EXPECT_EQ(kept, text);
  EXPECT_EQ(Shell(hunt).out, whole);
}

TEST_F(CliHuntTest, MergingRefusesWhatIsNoPartOfTheSameHunt) {
  Small("--shard 1/2 --out a.jsonl");
  Small("--shard 2/2 --promised --out b.jsonl");
  Write("c.jsonl", "{\"format\": \"whorl-trace\"}\n");
  Write("d.jsonl", "");
  ExpectUsageError("hunt --merge a.jsonl b.jsonl", "b.jsonl: of another hunt");
  ExpectUsageError("hunt --merge c.jsonl", "c.jsonl:1: expected a line that whorl hunt --json");
  ExpectUsageError("hunt --merge d.jsonl", "d.jsonl: empty");
  ExpectUsageError("hunt --merge e.jsonl", "e.jsonl: cannot be read");
}

// A disk that is full cuts a report at any byte. Taken for a whole one, it would lose findings.
TEST_F(CliHuntTest, AReportThatIsCutOffIsNeverMergedAsIfItWereWhole) {
  const std::string report = Small("--json").out;
  const size_t first = report.find('\n') + 1;
  const size_t last = report.rfind('\n', report.size() - 2) + 1;
  for (const size_t size : {first, first + 40, last, last + 40}) {
    Write("cut.jsonl", report.substr(0, size));
    ExpectUsageError("hunt --merge cut.jsonl", "cut.jsonl: cut off: the last line");
    ExpectUsageError("hunt --merge cut.jsonl", "or merge what is there by --partial");
  }
  Write("hole.jsonl", report.substr(0, first) + report.substr(last));
  ExpectUsageError("hunt --merge hole.jsonl",
                   "hole.jsonl: lines are missing: of 1 protocols it has 1");
  Write("half.jsonl", report.substr(0, 40));
  ExpectUsageError("hunt --merge half.jsonl --partial", "half.jsonl:1: expected a line");
  Write("two.jsonl", report + report);
  ExpectUsageError("hunt --merge two.jsonl", "a line after the end");
}

TEST_F(CliHuntTest, PartialMergesWhatIsThereAndSaysSo) {
  const std::string report = Small("--json").out;
  Write("cut.jsonl", report.substr(0, report.rfind('\n', report.size() - 2) + 1));
  const Ended merged = Whorl("hunt --merge cut.jsonl --partial");
  EXPECT_EQ(merged.code, 3);
  EXPECT_EQ(Whorl("hunt --merge cut.jsonl --partial --accept-incomplete").code, 0);
  EXPECT_THAT(merged.err, HasSubstr("cut.jsonl: partial; merged what is there"));
  EXPECT_THAT(merged.out, HasSubstr("; partial: lines of a report are missing"));
  // What was merged from a part stays one.
  Whorl("hunt --merge cut.jsonl --partial --out sum.jsonl");
  ExpectUsageError("hunt --merge sum.jsonl", "sum.jsonl: merged with --partial");
  ExpectUsageError("hunt --partial", "it does not go without --merge");
}

TEST_F(CliHuntTest, DifferingReportsOfOneShardAreAnAlarm) {
  Small("--shard 1/2 --out a.jsonl");
  Shell("sed 's/\"hash\":\"[0-9a-f]*\"/\"hash\":\"00000000000000ff\"/' a.jsonl >b.jsonl");
  EXPECT_THAT(Whorl("hunt --merge a.jsonl b.jsonl --out sum.jsonl"),
              Ends(1, IsEmpty(),
                   HasSubstr("b.jsonl: shard 1/2 is in a.jsonl, too, and the same runs came out "
                             "otherwise: a mistake of whorl's")));
  EXPECT_THAT(Files("."), Not(testing::Contains("sum.jsonl")));
}

// A report of a hunt that was ended early once counted as all the runs that it had been asked for.
TEST_F(CliHuntTest, AHuntThatWasEndedEarlySaysWhichRunsItHas) {
  const Ended one = Small("--shard 1/2 --for 1ns --out one.jsonl");
  EXPECT_THAT(one.out, HasSubstr("1 run: "));
  EXPECT_THAT(one.out, HasSubstr("of 2 shards, 1 is here; ended early, after 1 of 30 runs"));
  const json line = JsonLines(ReadText(folder_ / "one.jsonl")).back();
  EXPECT_EQ(line["hunt"]["runs"], 60);
  EXPECT_EQ(line["hunt"]["covered"], json::parse("[[1, 1]]"));

  Small("--shard 2/2 --out two.jsonl");
  const Ended early = Whorl("hunt --merge one.jsonl two.jsonl");
  EXPECT_THAT(early.out, HasSubstr("31 runs: "));
  EXPECT_THAT(early.out, HasSubstr("; ended early, after 31 of 60 runs"));

  // The shard once more, this time to its end: whatever the order, all runs count once.
  Small("--shard 1/2 --out again.jsonl");
  const std::string whole = Small("--json").out;
  for (const std::string files :
       {"one.jsonl two.jsonl again.jsonl", "again.jsonl one.jsonl two.jsonl one.jsonl"}) {
    EXPECT_EQ(Whorl("hunt --json --merge " + files).out, whole);
  }
  Whorl("hunt --merge one.jsonl two.jsonl --out sum.jsonl");
  ExpectUsageError("hunt --merge sum.jsonl again.jsonl",
                   "shard 1/2 is there already, added up with others or cut off");
  EXPECT_EQ(Whorl("hunt --json --merge two.jsonl sum.jsonl again.jsonl").out, whole);
  // A whole hunt has its parts.
  Small("--out whole.jsonl");
  EXPECT_EQ(Whorl("hunt --json --merge two.jsonl whole.jsonl one.jsonl").out, whole);
  Whorl("hunt --protocol spindle_v2 --duration 40s --runs 59 --seed 4 --out other.jsonl");
  ExpectUsageError("hunt --merge one.jsonl other.jsonl", "other.jsonl: of another hunt");
}

// Hours of hunting would be lost.
TEST_F(CliHuntTest, AReportThatCannotBeWrittenIsStillPrinted) {
  EXPECT_THAT(Small("--out /dev/full"), Ends(3, HasSubstr("60 runs: ")));
}

// Hours of hunting would be lost.
TEST_F(CliHuntTest, MergingNeverWritesOverAReport) {
  Small("--shard 1/2 --out a.jsonl");
  const std::string before = ReadText(folder_ / "a.jsonl");
  Shell("ln -s a.jsonl link.jsonl");
  ExpectUsageError("hunt --merge a.jsonl --out ./a.jsonl", "would write over the report a.jsonl");
  ExpectUsageError("hunt --merge a.jsonl --out link.jsonl", "would write over the report a.jsonl");
  EXPECT_EQ(ReadText(folder_ / "a.jsonl"), before);
}

TEST_F(CliHuntTest, MergingSaysInItsOwnWordsWhatIsWrongWithALine) {
  Small("--shard 1/2 --out a.jsonl");
  const auto expect = [&](const std::string& change, const std::string& message) {
    Shell("sed '" + change + "' a.jsonl >b.jsonl");
    ExpectUsageError("hunt --merge b.jsonl", message);
    EXPECT_THAT(Whorl("hunt --merge b.jsonl").err, Not(HasSubstr("json.exception")));
  };
  expect("1s/\"runs\":/\"runes\":/", "b.jsonl:1: expected a line");
  expect("1s/\"runs\":/\"runes\":/", "no \"runs\"");
  expect("1s/\"runs\":/\"runs\":\"many\",\"was\":/", "a value has another type");
  expect("1s/\"covered\":..1,/\"covered\":[[7,/", "there is no such shard");
  expect("1s/\"covered\":..1,30/\"covered\":[[1,31/", "a shard has more runs than there are");
  expect("s/\"covered\":..1,30/\"covered\":[[1,29/",
         "b.jsonl: runs are missing: it covers 29, and its lines count 30");
  expect("1s/^.//", "this is no JSON");
}

TEST_F(CliHuntTest, JsonLinesSayWhatWasHuntedAndFound) {
  const Ended ended = Small("--json");
  const std::vector<json> lines = JsonLines(ended.out);
  ASSERT_GE(lines.size(), 2U);
  EXPECT_EQ(lines[0]["line"], "protocol");
  EXPECT_EQ(lines[0]["runs"], 60);
  EXPECT_EQ(lines[0]["checked"], 3);
  EXPECT_THAT(lines[0]["hash"].get<std::string>(), testing::MatchesRegex("[0-9a-f]{16}"));
  EXPECT_TRUE(lines[0]["sometimes"].contains("takeover"));
  EXPECT_EQ(lines.back()["line"], "end");
  EXPECT_EQ(lines.back()["protocols"], 1);
  EXPECT_EQ(lines.back()["findings"], lines.size() - 2);
  for (size_t i = 1; i + 1 < lines.size(); ++i) {
    EXPECT_EQ(lines[i]["line"], "finding");
    EXPECT_EQ(lines[i]["promised"], false);
    EXPECT_THAT(lines[i]["scenario"]["expect"]["violates"],
                testing::Contains(lines[i]["invariant"]));
  }
}

// A run has one digest in a file of all runs, in one of a shard, and in a replay.
TEST_F(CliHuntTest, DigestsHoldHashAndVerdictsOfEveryRun) {
  Whorl("hunt --protocol spindle_v2 --promised --runs 120 --digests all --jobs 2");
  std::vector<std::string> all = Words(ReadText(folder_ / "all"));
  ASSERT_EQ(all.size(), 122U);
  EXPECT_EQ(all[0], "0");
  EXPECT_EQ(all[101], "100");
  std::erase_if(all, [](const std::string& word) { return word.size() < 4; });
  EXPECT_THAT(all, testing::Each(testing::MatchesRegex("[0-9a-f]{16}:[hvu-]{16}")));
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 120U);

  Whorl("hunt --protocol spindle_v2 --promised --runs 120 --shard 18/60 --digests some");
  EXPECT_EQ(ReadText(folder_ / "some"), "0 " + all[17] + " " + all[77] + "\n");

  const json run = json::parse(
      Shell("\"$W\" hunt --protocol spindle_v2 --show 17 | \"$W\" replay - --json").out);
  const json& result = run["scenarios"][0]["run"];
  std::string digest = result["hash"].get<std::string>() + ":";
  for (const json& invariant : result["invariants"]) {
    const auto verdict = invariant["verdict"].get<std::string>();
    digest += verdict == "n/a" ? '-' : verdict[0];
  }
  EXPECT_EQ(all[17], digest);
}

constexpr const char* kFrom =
    "hunt --from " WHORL_SOURCE_DIR "/scenarios/s3_told_event_by_event.json ";

// What a search found is shrunk by the same command as what a hunt found.
TEST_F(CliHuntTest, MakesAScenarioWithAScheduleSmaller) {
  EXPECT_THAT(Whorl(std::string(kFrom) + "--runs 1 --save found --no-pages"), Ends(0));
  EXPECT_THAT(Whorl("replay found"), Ends(0));
  const std::string text = ReadText(folder_ / "found" / Files("found").front());
  EXPECT_THAT(text, HasSubstr("\"schedule\""));
  EXPECT_LT(text.size(), 3'000U);
}

TEST_F(CliHuntTest, HuntsAroundAScenario) {
  const Ended as_it_is = Whorl(std::string(kFrom) + "--show 0");
  EXPECT_THAT(as_it_is.out, HasSubstr("takeover_insert"));
  const Ended ended = Whorl(std::string(kFrom) + "--runs 40 --json");
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.out, Whorl(std::string(kFrom) + "--runs 40 --json --jobs 1").out);
  EXPECT_TRUE(JsonLines(ended.out).front()["hunt"].contains("from"));
  std::set<std::string> worlds;
  for (int run = 0; run < 10; ++run) {
    worlds.insert(Whorl(kFrom + ("--show " + std::to_string(run))).out);
  }
  EXPECT_EQ(worlds.size(), 10U);
}

TEST_F(CliHuntTest, SaysWhyItCannotStartFromAScenario) {
  ExpectUsageError(std::string(kFrom) + "--protocol all", "--protocol does not go with --from");
  ExpectUsageError(std::string(kFrom) + "--shard 1/2", "--shard does not go with --from");
  EXPECT_THAT(Whorl("hunt --from no_such.json").err, HasSubstr("no_such.json"));
  EXPECT_EQ(Whorl("hunt --from no_such.json").code, 2);
  EXPECT_THAT(Whorl("hunt --from " WHORL_SOURCE_DIR "/scenarios").err, HasSubstr("takes one file"));
  std::string text = ReadText(WHORL_SOURCE_DIR "/scenarios/s3_told_event_by_event.json");
  const size_t entry = text.find("reply_arrives");
  text.replace(entry, 13, "call_arrives");
  EXPECT_THAT(Whorl("hunt --from " + Write("changed.json", text)),
              Complains(2, HasSubstr("changed.json:16 (/schedule/2) cannot happen")));
}

TEST_F(CliHuntTest, ShowsTheWorldOfARun) {
  EXPECT_THAT(Whorl("hunt --show 17 --protocol spindle_v2"),
              Ends(0, HasSubstr("Drawn by whorl hunt")));
  EXPECT_EQ(Shell("\"$W\" hunt --show 17 | \"$W\" replay - --seed 1").code, 0);
}

// Half a report would be taken for a whole one.
TEST_F(CliHuntTest, OutputThatCannotBeWrittenEndsWithThree) {
  EXPECT_THAT(Small(">/dev/full"), Complains(3, HasSubstr("standard output: cannot be written")));
  Write("file", "");
  for (const char* to :
       {"--out /dev/full", "--out no/such/folder/x", "--save file/x",
        "--promised --digests /dev/full", "--promised --digests no/such/folder/x"}) {
    EXPECT_EQ(Small(to).code, 3) << to;
  }
}

// A user who ends a hunt early wants what it has found until then.
TEST_F(CliHuntTest, InterruptedItReportsWhatItHas) {
  // The hunt would last a day; it is told to end as soon as it has begun.
  const Ended ended = Shell(
      "\"$W\" hunt --protocol spindle_v2 --for 24h --jobs 1 --out report.jsonl & PID=$!\n"
      "while ! ls report.jsonl.* >/dev/null 2>&1; do :; done\n"
      "kill -TERM $PID; wait $PID; echo \"code $?\"");
  EXPECT_THAT(ended.out, HasSubstr("code 3\n"));
  EXPECT_THAT(ended.out, HasSubstr("run"));
  EXPECT_FALSE(JsonLines(ReadText(folder_ / "report.jsonl")).empty());
}

}  // namespace
}  // namespace whorl::cli_hunt_test
