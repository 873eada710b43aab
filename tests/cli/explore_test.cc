// `whorl explore` as people and scripts use it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tests/cli/cli_testing.h"

namespace whorl::cli_explore_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

using CliExploreTest = CliTest;

TEST_F(CliExploreTest, BadUsageNamesTheOptionAndTheRemedy) {
  ExpectUsageError("explore",
                   "explore needs --protocol or --scenario; `whorl protocols` lists the protocols");
  ExpectUsageError("explore --protocol spindle_v1", "did you mean \"spindle_v2\"?");
  ExpectUsageError("explore --protocol fenced_lease --grid 3s",
                   "--grid 3s does not divide the lease (4s); 1s would divide the lease");
  ExpectUsageError("explore --protocol fenced_lease --horizon 0s", "--horizon wants more than 0s");
  ExpectUsageError("explore --protocol spindle_v3 --lease 2s", "leases of at least 5s, and got 2s");
  ExpectUsageError("explore --protocol spindle_v3 --announce --stops 1",
                   "--announce: processes of spindle_v3 do not listen to announcements");
  ExpectUsageError("explore --protocol semaphore --announcements 1",
                   "--announcements: processes of semaphore do not listen to announcements");
  ExpectUsageError("explore --protocol fenced_lease --use lock",
                   "--use lock: fenced_lease has no blocking Lock(); its uses: has_lock, callback");
  ExpectUsageError("explore --protocol fenced_lease --hold-for 1s",
                   "--hold-for is of applications that call Lock(); add --use lock");
  ExpectUsageError("explore --protocol spindle_v2 --use lock --lock-again 1s",
                   "nobody calls Unlock(); add --hold-for or --deadline");
  ExpectUsageError("explore --protocol fenced_lease --commit-timeout 35ms",
                   "--commit-timeout 35ms is no multiple of --grid (1s); give one, or a lesser "
                   "--grid");
  ExpectUsageError("explore --protocol spindle_v2 --commit-timeout 2h",
                   "the client of spindle_v2 gives a Commit up after 3600s anyway; give less");
  ExpectUsageError("explore --protocol semaphore --locks 2", "has room for one lock");
  ExpectUsageError("explore --protocol fenced_lease --constants gird", "did you mean \"grid\"?");
  ExpectUsageError("explore --protocol fenced_lease --crashes=-1",
                   "--crashes wants a whole number");
  ExpectUsageError("explore --protocol fenced_lease --memory 8T",
                   "--memory wants MiB from 1 to 1000000, or GiB such as 8G, and got \"8T\"");
  ExpectUsageError("explore --protocol fenced_lease --memory 977G", "--memory wants MiB");
  ExpectUsageError("explore --protocol fenced_lease --epsilon=-1ms",
                   "--epsilon wants TrueTime's uncertainty");
  ExpectUsageError("explore --protocol fenced_lease --invariant no_wedge --horizon 4s",
                   "runs that never end; leave --horizon out");
  ExpectUsageError("explore --protocol fenced_lease --invariant no_wedge --all", "leave it out");
}

// The claim is one sentence that names all of its bounds.
TEST_F(CliExploreTest, ACompleteSearchNamesItsBoundsAndWhatHolds) {
  EXPECT_THAT(
      Whorl("explore --protocol fenced_lease --constants grid --aborts 1"),
      Ends(0, AllOf(StartsWith("complete: fenced_lease, 2 equal processes, at most 1 abort, grid "
                               "constants, lease 4s, grid 1s, messages on time, no horizon: "),
                    HasSubstr("\nholds: one_live_token, "), Not(HasSubstr("violated")))));
}

// Told to stop, a process gives the lock back, and may start again before it is done with that.
TEST_F(CliExploreTest, AProcessMayBeToldToStopAtAnyMoment) {
  const Ended ended = Whorl(
      "explore --protocol lease_lock --constants grid --stops 1 --save found "
      "--invariant single_worker");
  EXPECT_THAT(ended, Ends(0, AllOf(StartsWith("complete: lease_lock, 2 equal processes, at most 1 "
                                              "stop, grid constants, "),
                                   HasSubstr("violated: single_worker (not promised), 1 fault"))));
  EXPECT_EQ(Whorl("replay found").code, 0);
  EXPECT_THAT(Whorl("explore --scenario found/lease_lock.single_worker.work_changed.stop.json "
                    "--invariant single_worker"),
              Complains(0, HasSubstr(": its schedule is left out: a search tries every one")));
}

// Who is told of a release looks at once, so the runs are others.
TEST_F(CliExploreTest, ReleasesMayBeAnnounced) {
  const std::string search =
      "explore --protocol fenced_lease --constants grid --stops 1 --promised --horizon 6s";
  const Ended announced = Whorl(search + " --announce");
  EXPECT_THAT(announced,
              Ends(0, HasSubstr(" at most 1 stop, grid constants, releases announced, ")));
  const auto counts = [](const std::string& text) { return text.substr(text.find("up to 6s: ")); };
  EXPECT_NE(counts(announced.out), counts(Whorl(search).out));
  EXPECT_THAT(
      Whorl("explore --protocol fenced_lease --constants grid --announcements 1 --promised"),
      Ends(0, HasSubstr(", at most 1 false announcement, ")));
}

// Who gives a Commit up does not know whether it is applied, perhaps later.
TEST_F(CliExploreTest, CommitsMayBeGivenUp) {
  const std::string search =
      "explore --protocol fenced_lease --constants grid --losses 1 --promised --jobs 1";
  const Ended given_up = Whorl(search + " --commit-timeout 1s");
  EXPECT_THAT(given_up, Ends(0, HasSubstr(", grid constants, Commits given up after 1s, ")));
  const auto counts = [](const std::string& text) {
    const size_t begin = text.find("no horizon: ");
    return text.substr(begin, text.find('\n') - begin);
  };
  EXPECT_NE(counts(given_up.out), counts(Whorl(search).out));
}

TEST_F(CliExploreTest, ApplicationsMayCallLock) {
  const Ended ended = Whorl(
      "explore --protocol spindle_v2 --constants grid --use lock --deadline 3s --hold-for 1s "
      "--horizon 4s --invariant lease_respected --save found");
  EXPECT_THAT(
      ended, Ends(0, AllOf(HasSubstr(", applications call Lock(), each call with a deadline of 3s, "
                                     "held for 1s, lease 4s, "),
                           HasSubstr("violated: lease_respected (not promised)"))));
  EXPECT_EQ(Whorl("replay found").code, 0);
}

// A suspended machine does not know that time has passed. What is not promised then is shown, and said to be so.
TEST_F(CliExploreTest, AMachineMayBeSuspendedAtAnyMoment) {
  const std::string search =
      "explore --protocol fenced_lease --constants grid --invariant single_leader_belief";
  EXPECT_THAT(
      Whorl(search + " --standing-clocks 1 --save found"),
      Ends(0,
           AllOf(StartsWith("complete: fenced_lease, 2 equal processes, at most 1 standing clock "
                            "of at most 12s, grid constants, "),
                 HasSubstr("violated: single_leader_belief (not promised), 1 fault"))));
  EXPECT_EQ(Whorl("replay found").code, 0);
  EXPECT_THAT(Whorl(search + " --pauses 1 --horizon 8s"),
              Ends(0, HasSubstr("\nholds: single_leader_belief\n")));
  const std::string file = "found/fenced_lease.single_leader_belief.belief_changed.clock.json";
  EXPECT_THAT(Whorl("explore --scenario " + file + " --invariant single_leader_belief"),
              Ends(0, HasSubstr("violated: single_leader_belief (not promised), 1 fault")));
}

// Where the DELETE of spindle_v2's heartbeats works, rows of takeovers do not stay, so it has other states.
TEST_F(CliExploreTest, TheRuleOfPendingCommitTimestampsIsABound) {
  const std::string search =
      "explore --protocol spindle_v2 --constants grid --promised --horizon 5s";
  const std::string rule = " --strict-pending-commit-timestamp ";
  const Ended by_table = Whorl(search);
  const Ended by_column = Whorl(search + rule + "column");
  EXPECT_EQ(by_column.code, 0);
  EXPECT_THAT(
      by_column.out,
      HasSubstr(", grid constants, pending commit timestamps strict by column, lease 4s, "));
  EXPECT_THAT(by_table.out, Not(HasSubstr("strict by")));
  const auto counts = [](const std::string& text) { return text.substr(text.find("up to 5s: ")); };
  EXPECT_NE(counts(by_column.out), counts(by_table.out));
  EXPECT_EQ(Whorl(search + rule + "table").out, by_table.out);
  ExpectUsageError(search + rule + "colum", "did you mean \"column\"?");
}

TEST_F(CliExploreTest, AViolationThatIsAskedForIsShownInExactTimeAndEndsWithOne) {
  const Ended ended = Whorl(
      "explore --protocol spindle_v3 --pauses 1 --horizon 10s --invariant "
      "single_leader_belief --first --timeline --any");
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(
      ended.out,
      AllOf(HasSubstr("violated: single_leader_belief (not promised), 1 fault and "),
            AnyOf(HasSubstr("b began to believe that it leads lock \"lock\" while a believed so"),
                  HasSubstr("a began to believe that it leads lock \"lock\" while b believed so")),
            HasSubstr("!! single_leader_belief violated"), HasSubstr("fault pause\n")));
}

TEST_F(CliExploreTest, WhatIsPromisedCanBeAskedForAlone) {
  EXPECT_THAT(Whorl("explore --protocol spindle_v3 --pauses 1 --horizon 10s --promised"),
              Ends(0, Not(HasSubstr("single_leader_belief"))));
}

// S5 of protocol/spindle_v2/README.md: the clock that CURRENT_TIMESTAMP reads is behind.
TEST_F(CliExploreTest, ClocksOfSpannerMayBeOff) {
  const Ended ended =
      Whorl("explore --protocol spindle_v2 --current-timestamp-error 6ms --horizon 4s --first");
  EXPECT_THAT(ended.out, HasSubstr(", CURRENT_TIMESTAMP within 6ms, up to 4s: "));
  ExpectUsageError("explore --protocol spindle_v2 --current-timestamp-error 6",
                   "--current-timestamp-error: \"6\" has no unit");
  ExpectUsageError("explore --protocol fenced_lease --epsilon 4ms",
                   "at most 200us, which passes within an instant, or a multiple of --grid");
}

TEST_F(CliExploreTest, ClocksOfProcessesMayDriftWithinWhatIsAssumed) {
  EXPECT_THAT(Whorl("explore --protocol fenced_lease --constants grid --drift 250000 --horizon 4s"),
              Ends(0, HasSubstr(", clocks of processes within 250,000 ppm, up to 4s: ")));
  ExpectUsageError("explore --protocol fenced_lease --drift 250000",
                   "fenced_lease assumes that clocks run at most 1,000 ppm fast or slow; "
                   "--constants grid allows 250,000");
  ExpectUsageError("explore --protocol fenced_lease --constants grid --drift 1000",
                   "its reciprocal is no whole number of ppm");
  ExpectUsageError("explore --protocol lease_lock --constants grid --drift 250000",
                   "lease_lock assumes that clocks run at most 1,000 ppm fast or slow");
}

// How far it got is an answer, too.
TEST_F(CliExploreTest, TooLittleMemoryIsSaid) {
  EXPECT_THAT(Whorl("explore --protocol fenced_lease --crashes 2 --losses 2 --memory 3"),
              Ends(3, AllOf(StartsWith("out of memory (--memory): fenced_lease, "),
                            HasSubstr("all runs with"), HasSubstr("no violation so far: "))));
}

TEST_F(CliExploreTest, MemoryMayBeGivenInGiB) {
  EXPECT_THAT(Whorl("explore --protocol fenced_lease --constants grid --memory 1G").out,
              StartsWith("complete: "));
  EXPECT_THAT(Whorl("explore --protocol fenced_lease --constants grid --crashes 1 --memory 2M").out,
              StartsWith("out of memory (--memory): "));
}

TEST_F(CliExploreTest, JsonHasAVerdictForEachInvariant) {
  const Ended ended =
      Whorl("explore --protocol spindle_v3 --pauses 1 --horizon 10s --json --out report.json");
  EXPECT_EQ(ended.code, 0);
  const json document = json::parse(ended.out);
  EXPECT_EQ(document, json::parse(ReadText(folder_ / "report.json")));
  EXPECT_EQ(document["ending"], "complete");
  EXPECT_EQ(document["invariants"]["one_live_token"]["verdict"], "holds");
  EXPECT_EQ(document["invariants"]["no_wedge"]["verdict"], "not_judged");
  const json& belief = document["invariants"]["single_leader_belief"];
  EXPECT_EQ(belief["verdict"], "violated");
  EXPECT_EQ(belief["counterexamples"][0]["confirmed"], true);
  EXPECT_EQ(belief["promised"], false);
  EXPECT_EQ(belief["decides"], false);
}

// What a search finds is kept as what everything else in this command understands.
TEST_F(CliExploreTest, SavedCounterexamplesAreScenariosThatComeOutAsExpected) {
  const std::string search =
      "explore --protocol spindle_v3 --pauses 1 --horizon 10s --invariant single_leader_belief "
      "--save found";
  const Ended ended = Whorl(search);
  EXPECT_EQ(ended.code, 0);
  const std::string path = "found/spindle_v3.single_leader_belief.belief_changed.pause.json";
  EXPECT_THAT(ended.out, HasSubstr(" replay " + path + " --explain=single_leader_belief\n"));

  EXPECT_THAT(Whorl("replay found --check-determinism"),
              Ends(0, HasSubstr("1 scenario: 1 as expected")));
  const Ended shown = Whorl("replay " + path + " --timeline --explain --trace traces");
  EXPECT_THAT(shown.out,
              AllOf(HasSubstr("!! single_leader_belief violated"), HasSubstr("fault pause"),
                    HasSubstr("\nsingle_leader_belief violated at ")));
  EXPECT_EQ(Whorl("replay " + path + " --at 3s").code, 0);
  EXPECT_EQ(Whorl("replay " + path + " --perfetto picture.pftrace").code, 0);
  const std::string trace = "traces/spindle_v3.single_leader_belief.belief_changed.pause.1.jsonl";
  EXPECT_EQ(Whorl("diff " + trace + " " + trace).code, 0);
}

TEST_F(CliExploreTest, AFileThatIsThereIsKept) {
  const std::string search =
      "explore --protocol spindle_v3 --pauses 1 --horizon 10s --invariant single_worker --first "
      "--save found";
  const std::string name = "spindle_v3.single_worker.work_changed.pause";
  Whorl(search);
  const std::string text = ReadText(folder_ / "found" / (name + ".json"));
  EXPECT_THAT(text, HasSubstr("\"schedule\": ["));
  Whorl(search);  // the same again
  EXPECT_FALSE(fs::exists(folder_ / "found" / (name + "-2.json")));
  Write("found/" + name + ".json", "mine");
  const Ended ended = Whorl(search);
  EXPECT_EQ(ReadText(folder_ / "found" / (name + ".json")), "mine");
  EXPECT_EQ(ReadText(folder_ / "found" / (name + "-2.json")), text);
  EXPECT_THAT(ended.out, HasSubstr(name + "-2.json"));
}

// Each kind is shown by another step or event, or needs other faults.
TEST_F(CliExploreTest, AllKindsOfAViolationCanBeFound) {
  const std::string search =
      "explore --protocol spindle_v3 --pauses 1 --deletes 1 --horizon 6s --json --all --save found";
  const json document = json::parse(Whorl(search).out);
  const json& all = document["invariants"]["single_leader_belief"]["counterexamples"];
  ASSERT_EQ(all.size(), 2U);
  const std::string name = "found/spindle_v3.single_leader_belief.belief_changed.";
  EXPECT_EQ(all[0]["scenario"], name + "delete_row.json");
  EXPECT_EQ(all[1]["scenario"], name + "pause.json");
  EXPECT_THAT(Whorl("replay found"), Ends(0));
}

// A test of yesterday's protocol, against today's.
TEST_F(CliExploreTest, AScheduleThatCannotBeTakenFailsAndSaysWhatCan) {
  Write("x.json", R"({
  "version": 1, "about": "x", "protocol": "fenced_lease", "nodes": [ "a" ], "duration": "60s",
  "schedule": [
    { "event": "node_starts", "node": "a" },
    { "event": "commit_becomes_visible", "node": "a" }
  ]
})");
  EXPECT_THAT(
      Whorl("replay x.json"),
      Ends(1, AllOf(HasSubstr("the entry at x.json:5 (/schedule/1) cannot happen: "),
                    HasSubstr(R"({ "event": "call_arrives", "node": "a", "step": "read" })"))));
}

constexpr std::string_view kPaused = R"({
  "version": 1, "about": "x", "protocol": "spindle_v3", "lease": "5s", "nodes": [ "a", "b" ],
  "duration": "10s", "workload": { "write_every": "5s", "work_for": "0s" },
  "faults": [ { "at": "1s", "do": "pause", "node": "a", "for": "15s" } ]
})";

// What a hunt found, or a person wrote, can be the start of a search.
TEST_F(CliExploreTest, AScenariosFaultsAreTheMenu) {
  Write("x.json", std::string(kPaused));
  const Ended ended = Whorl("explore --scenario x.json --horizon 10s --save found");
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(
      ended.out,
      AllOf(StartsWith("complete: the world of x: spindle_v3, 2 processes, at most 1 pause of "
                       "at most 15s, lease 5s, "),
            HasSubstr(", up to 10s: "), HasSubstr("violated: single_leader_belief ")));
  EXPECT_EQ(Whorl("replay found").code, 0);
  const Ended none = Whorl("explore --scenario x.json --horizon 3s --invariant single_worker");
  EXPECT_THAT(none.out, AllOf(HasSubstr(", up to 3s: "),
                              HasSubstr("not judged: single_worker (work takes no time here")));

  // What was found is a scenario, too; its order of events is what a search changes.
  const std::string found = "found/spindle_v3.single_leader_belief.belief_changed.pause.json";
  EXPECT_THAT(
      Whorl("explore --scenario " + found + " --horizon 10s --invariant single_leader_belief"),
      Complains(0, HasSubstr(": its schedule is left out: a search tries every one")));
}

TEST_F(CliExploreTest, AScenarioThatCannotBeExploredIsRefusedByItsPlace) {
  Write("x.json", R"({
  "version": 1, "about": "x", "protocol": "spindle_v3", "nodes": [ "a", "b" ], "duration": "60s",
  "faults": [
    { "at": "1s", "do": "pause", "node": "a", "for": "5s" },
    { "at": "2s", "do": "partition", "node": "a", "for": "5s" },
    { "at": "3s", "do": "abort", "node": "*", "for": "5s" }
  ]
})");
  const Ended ended = Whorl("explore --scenario x.json");
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.out, IsEmpty());
  EXPECT_THAT(
      ended.err,
      AllOf(HasSubstr("the fault at x.json:5 (partition of a) cannot be a choice of a search. What "
                      "can: pause, crash, stop, start at a time, drop_request, drop_reply, abort "
                      "without \"for\", announce, clock with \"stands\", delete_row."),
            HasSubstr("the fault at x.json:6 (abort of b) cannot"), Not(HasSubstr("x.json:4"))));

  Write("x.json", std::string(kPaused));
  ExpectUsageError("explore --scenario x.json --protocol spindle_v3 --processes 3",
                   "--processes does not go with --scenario, which says it");
  ExpectUsageError("explore --scenario x.json --grid 2s",
                   "--grid 2s does not divide the lease (5s)");
  Write("bad.json", "{");
  EXPECT_THAT(Whorl("explore --scenario bad.json").err, StartsWith("bad.json:1: "));
  EXPECT_EQ(Whorl("explore --scenario bad.json").code, 2);
  EXPECT_EQ(Whorl("explore --scenario none.json").code, 2);
}

}  // namespace
}  // namespace whorl::cli_explore_test
