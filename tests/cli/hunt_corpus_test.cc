// `whorl hunt --corpus`, `--reach` and `--goals`: what hunts keep, and how far their runs come.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/cli/cli_testing.h"

namespace whorl::cli_hunt_corpus_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kHunt = "hunt --protocol spindle_v2 --duration 40s --runs 40 --seed 4 ";

// Long enough to branch, and to go on after four generations.
constexpr const char* kGuided =
    "hunt --protocol spindle_v2 --duration 40s --runs 260 --seed 4 --guide ";

class CliHuntCorpusTest : public CliTest {
 protected:
  Ended Hunt(const std::string& more = "") { return Whorl(kHunt + more); }

  // All files of a folder, with what is in them.
  std::string Content(const std::string& folder) {
    return Shell("cd " + folder + " && for f in $(LC_ALL=C ls); do echo \"== $f\"; cat $f; done")
        .out;
  }
  std::string AnEntry(const std::string& folder) {
    const std::string name = Shell("LC_ALL=C ls " + folder + " | grep spindle | head -1").out;
    return name.substr(0, name.find('\n'));
  }
};

// People put the folder into git: the same hunt leaves the same bytes, and once more changes none.
TEST_F(CliHuntCorpusTest, KeepsTheSameFilesWhateverTheJobs) {
  Hunt("--corpus a --jobs 1");
  Hunt("--corpus b --jobs 3");
  const std::string kept = Content("a");
  EXPECT_EQ(Content("b"), kept);
  EXPECT_THAT(kept, HasSubstr(R"({"format":"whorl-corpus","version":1,"duration":"40s")"));
  const Ended again = Hunt("--corpus a");
  EXPECT_THAT(again.err, AllOf(StartsWith("the corpus has "), HasSubstr(" runs\n")));
  EXPECT_EQ(Content("a"), kept);
  EXPECT_THAT(Files("a"), Not(Contains(HasSubstr(".whorl-"))));
}

// Each file is a scenario as any other.
TEST_F(CliHuntCorpusTest, ItsFilesAreScenarios) {
  Whorl(std::string(kGuided) + "--corpus kept");
  // After a change of a protocol they are replayed: each expects what its run violated when it was kept.
  EXPECT_EQ(Whorl("replay kept").code, 0);
  const std::string entry = AnEntry("kept");
  const std::string name = entry.substr(0, entry.rfind('.'));
  const Ended shown = Whorl("hunt --duration 40s --corpus kept --show " + name);
  EXPECT_EQ(shown.code, 0) << shown.err;
  json world = json::parse(shown.out);
  EXPECT_EQ(world, json::parse(ReadText(folder_ / "kept" / entry)));
  const Ended branch = Whorl("hunt --duration 40s --corpus kept --show " + name + "@100:5");
  EXPECT_THAT(json::parse(branch.out)["branches"],
              Contains(json::parse(R"({"event":100,"seed":5})")));
  ExpectUsageError("hunt --show " + name, "name its folder by --corpus");
  ExpectUsageError("hunt --show " + name + " --corpus nowhere", "nowhere: cannot be read");
  ExpectUsageError("hunt --duration 40s --corpus kept --show spindle_v2-0000000000000000",
                   "has no entry spindle_v2-0000000000000000");
}

// An unguided hunt runs what it always ran; what the corpus breaks comes on top, before the first run.
TEST_F(CliHuntCorpusTest, WhatItBreaksIsFoundBeforeTheFirstRun) {
  const Ended first = Hunt("--corpus kept");
  EXPECT_EQ(first.out, Hunt().out);
  const Ended again =
      Whorl("hunt --protocol spindle_v2 --duration 40s --runs 1 --seed 9 --corpus kept");
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.out, AllOf(HasSubstr("\n1 run: "), HasSubstr("  run spindle_v2-")));
  // Shards share it out, and their sum is that of the whole.
  const std::string whole =
      Whorl("hunt --protocol spindle_v2 --duration 40s --runs 2 --seed 9 --corpus kept --json").out;
  for (const std::string i : {"1", "2"}) {
    Whorl("hunt --protocol spindle_v2 --duration 40s --runs 2 --seed 9 --corpus kept --shard " + i +
          "/2 --out " + i + ".jsonl");
  }
  EXPECT_EQ(Whorl("hunt --merge 2.jsonl 1.jsonl --json").out, whole);
}

// In a run that is shorter than some leases, nodes were once drawn that start after its end, and the next hunt
// refused what the first one had kept.
TEST_F(CliHuntCorpusTest, OfShortRunsIsTakenByTheNextHunt) {
  const std::string hunt = "hunt --protocol all --duration 20s --runs 400 --corpus kept --seed ";
  EXPECT_EQ(Whorl(hunt + "1").code, 0);
  EXPECT_THAT(Whorl(hunt + "2"), Complains(0, StartsWith("the corpus has ")));
}

// The message names the file and what differs, and the folder stays unchanged.
TEST_F(CliHuntCorpusTest, OfOtherHuntsOrDamagedIsRefusedAndLeftAlone) {
  Hunt("--corpus kept");
  const std::string kept = Content("kept");
  const std::string at = " --protocol spindle_v2 --runs 10 --corpus kept";
  ExpectUsageError("hunt" + at,
                   "kept/corpus.jsonl:1: of hunts with other options: it has "
                   "\"duration\": \"40s\", and this one \"120s\"; name another folder");
  ExpectUsageError("hunt --duration 40s --faults pause" + at,
                   R"("faults": [], and this one ["pause"])");
  ExpectUsageError("hunt --duration 40s --beyond-assumptions" + at,
                   "\"beyond_assumptions\": false");
  ExpectUsageError("hunt --from x.json --corpus kept", "--corpus does not go with --from");
  ExpectUsageError("hunt --compare spindle_v2 spindle_v3 --corpus kept",
                   "--compare does not go with --corpus");
  EXPECT_EQ(Content("kept"), kept);

  Shell("cp -r kept other; sed -i 's/\"version\":1/\"version\":2/' other/corpus.jsonl");
  ExpectUsageError(kHunt + std::string("--corpus other"),
                   "other/corpus.jsonl:1: of another version");
  Shell("echo x >other/corpus.jsonl");
  ExpectUsageError(kHunt + std::string("--corpus other"),
                   "other/corpus.jsonl:1: expected the line");
  Shell("rm other/corpus.jsonl");
  ExpectUsageError(kHunt + std::string("--corpus other"), "no corpus.jsonl: it is no corpus");
  const std::string entry = AnEntry("kept");
  Shell("cp -r kept edited; sed -i 's/\"seed\": /\"seed\": 1/' edited/" + entry);
  const std::string edited = Content("edited");
  ExpectUsageError(kHunt + std::string("--corpus edited"), "edited/" + entry + ": is not as whorl");
  EXPECT_EQ(Content("edited"), edited);
  Shell("cp -r kept cut; truncate -s 100 cut/" + entry);
  ExpectUsageError(kHunt + std::string("--corpus cut"), "cut/" + entry + ":");
}

// Whatever either takes out, the other has a better one of.
TEST_F(CliHuntCorpusTest, TwoHuntsWithOneFolderLeaveWhatOneAfterTheOtherDoes) {
  const std::string other = "hunt --protocol spindle_v2 --duration 40s --runs 40 --seed 5 ";
  Hunt("--corpus one");
  Whorl(other + "--corpus one");
  Shell("\"$W\" " + std::string(kHunt) + "--corpus both & \"$W\" " + other + "--corpus both; wait");
  Hunt("--corpus both");  // takes out what both left to the other
  EXPECT_EQ(Content("both"), Content("one"));
  // And so does who joins two folders by copying.
  Hunt("--corpus a");
  Whorl(other + "--corpus b");
  Shell("cp b/* a");
  Hunt("--corpus a");
  EXPECT_EQ(Content("a"), Content("one"));
}

// A full disk, in which some files still fit: the report is printed, and nothing is half or taken out.
TEST_F(CliHuntCorpusTest, OnAFullDiskNothingIsLost) {
  Hunt("--corpus whole");
  Whorl("hunt --protocol spindle_v2 --duration 40s --runs 10 --seed 4 --corpus kept");
  const std::string before = Shell("ls kept").out;
  const std::string hunt = "\"$W\" " + std::string(kHunt) + "--corpus kept --checkpoint c.hunt";
  // Standard output is no file of the command's: cat has no limit.
  const Ended full = Shell("{ (trap '' XFSZ; ulimit -f 1; " + hunt + "); echo $? >code; } | cat");
  EXPECT_EQ(ReadText(folder_ / "code"), "3\n");
  EXPECT_THAT(full.out, HasSubstr("40 runs: "));
  EXPECT_THAT(full.err, AllOf(HasSubstr("kept/spindle_v2-"), HasSubstr(": cannot be written: ")));
  for (const std::string& file : Files("kept")) {
    EXPECT_FALSE(ReadText(folder_ / "kept" / file).empty()) << file;
    EXPECT_THAT(file, testing::AnyOf(testing::EndsWith(".json"), "corpus.jsonl"));
  }
  std::istringstream names(before);
  for (std::string name; names >> name;) EXPECT_TRUE(fs::exists(folder_ / "kept" / name)) << name;
  Shell(hunt);
  EXPECT_EQ(Content("kept"), Content("whole"));
}

// Killed and started again, it keeps what an undisturbed one keeps, and reports what it does.
TEST_F(CliHuntCorpusTest, GoesWithACheckpoint) {
  Whorl("hunt --protocol spindle_v2 --duration 40s --runs 40 --seed 9 --corpus a");
  Shell("cp -r a b");
  const std::string whole = Whorl(std::string(kGuided) + "--corpus a --json").out;
  // As if it had been ended after 256 runs, and then another hunt had worked with the folder.
  Whorl(
      "hunt --protocol spindle_v2 --duration 40s --runs 256 --seed 4 --guide --corpus b "
      "--checkpoint part.hunt");
  const std::string text = ReadText(folder_ / "part.hunt");
  EXPECT_THAT(text, HasSubstr(R"("line":"entries")"));
  const std::string asked = R"("runs":256,"shards")";
  EXPECT_THAT(text, HasSubstr(asked));
  Write("part.hunt", Replaced(text, asked, R"("runs":260,"shards")"));
  const Ended resumed = Whorl(std::string(kGuided) + "--corpus b --checkpoint part.hunt --json");
  EXPECT_THAT(resumed.err, HasSubstr("going on after 256 runs"));
  EXPECT_EQ(resumed.out, whole);
  EXPECT_EQ(Content("b"), Content("a"));
  ExpectUsageError(std::string(kGuided) + "--checkpoint part.hunt", "it has other options");
}

// --- waypoints and goals -------------------------------------------------------------------------

TEST_F(CliHuntCorpusTest, SaysHowManyRunsPassEachWaypoint) {
  const std::string reach =
      R"(--reach "takeover_insert replied" --reach "old leader resumed" --reach "old leader stopped" )";
  const Ended ended = Hunt(reach);
  EXPECT_THAT(ended.out,
              HasSubstr("spindle_v2: waypoint 1, \"takeover_insert replied\": reached in "));
  EXPECT_THAT(ended.out, HasSubstr("spindle_v2: waypoint 2, \"old leader resumed\": "));
  const std::string lines = Hunt(reach + "--json").out;
  const json line = json::parse(lines.substr(0, lines.find('\n')));
  EXPECT_EQ(line["hunt"]["reach"][1], "old leader resumed");
  ASSERT_EQ(line["reached"].size(), 3u);
  EXPECT_GT(line["reached"][0]["runs"], 10);
  EXPECT_GE(line["reached"][0]["runs"], line["reached"][1]["runs"]);
  // The run that came so far first shows it again; it is not the first run, which shows less.
  const auto first = line["reached"][1]["first"].get<std::string>();
  EXPECT_NE(first, "0");
  Write("first.json", Whorl("hunt --protocol spindle_v2 --duration 40s --seed 4 --show " + first +
                            R"( --reach "takeover_insert replied" --reach "old leader resumed")")
                          .out);
  EXPECT_THAT(Whorl("replay first.json").out, Not(HasSubstr("was not reached")));
  // Shards add up.
  for (const std::string i : {"1", "2"}) Hunt(reach + "--shard " + i + "/2 --out " + i + ".jsonl");
  EXPECT_EQ(Whorl("hunt --merge 2.jsonl 1.jsonl").out, ended.out);
  Hunt("--shard 2/2 --out other.jsonl");
  ExpectUsageError("hunt --merge 1.jsonl other.jsonl", "other.jsonl: of another hunt");

  ExpectUsageError("hunt --reach \"take replied\"",
                   "--reach \"take replied\", of spindle_v2: unknown step \"take\"");
  ExpectUsageError("hunt --reach \"a paused\"", "unknown node \"a\"");
  ExpectUsageError("hunt --protocol spindle_v2 --reach \"write committed\"",
                   "can never be reached");
}

// A hunt around a scenario takes the waypoints of the scenario, whose nodes have names.
TEST_F(CliHuntCorpusTest, AHuntAroundAScenarioTakesItsWaypoints) {
  Write("s.json", R"({
    "version": 1, "about": "x", "protocol": "spindle_v2", "lease": "5s",
    "nodes": [ "a", { "name": "b", "start_at": "2s" } ], "duration": "60s",
    "faults": [ { "at": "20s", "do": "pause", "node": "a", "for": "25s" } ],
    "expect": { "reach": ["a paused", "b takeover_insert ended"] } })");
  EXPECT_THAT(Whorl("hunt --from s.json --runs 3").out,
              HasSubstr("spindle_v2: waypoint 2, \"b takeover_insert ended\": reached in "));
  EXPECT_THAT(Whorl("hunt --from s.json --runs 3 --reach \"a resumed\"").out,
              HasSubstr("spindle_v2: waypoint 1, \"a resumed\": reached in "));
}

TEST_F(CliHuntCorpusTest, GoalsAreATableOfTheRunsThatMetThemFirst) {
  const Ended ended = Hunt("--goals");
  EXPECT_THAT(ended.out, AllOf(StartsWith("| goal | spindle_v2 |\n|---|---|\n| `takeover` | "),
                               HasSubstr("| `release` | cannot |\n"),
                               HasSubstr("| `clock_stop_noticed` | cannot |\n")));
  EXPECT_THAT(ended.out, Not(HasSubstr("violated")));
  ExpectUsageError("hunt --goals --json", "--goals prints no findings");
  for (const std::string i : {"1", "2"}) Hunt("--shard " + i + "/2 --out " + i + ".jsonl");
  EXPECT_EQ(Whorl("hunt --merge 1.jsonl 2.jsonl --goals").out, ended.out);
}

}  // namespace
}  // namespace whorl::cli_hunt_corpus_test
