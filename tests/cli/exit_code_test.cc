// What a command ends with is what CI sees of it: docs/EXIT_CODES.md, row by row. First the function that decides,
// for all that can be found and said; then the commands.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_rules.h"
#include "tests/cli/cli_testing.h"

namespace whorl::exit_code_test {
namespace {

using cli::CodeOf;
using cli::CommandResult;
using cli::ExitRules;
using cli::FoundViolation;
using cli::Measure;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

// Of what a command printed on standard output.
std::string LastLine(const Ended& ended) {
  const std::string text = ended.out.substr(0, ended.out.find_last_not_of('\n') + 1);
  return text.substr(text.rfind('\n') + 1);
}

constexpr auto kBelief = Invariant::kSingleLeaderBelief;
constexpr auto kWedge = Invariant::kNoWedge;

// --- the function --------------------------------------------------------------------------------

struct Said {
  std::string_view options;
  ExitRules rules;  // except the measure
};

// Of a violation of single_leader_belief.
struct Case {
  std::string_view found;
  FoundViolation violation;
};

const std::vector<Said>& AllSaid() {
  static const std::vector<Said> kSaid = {
      {"", {}},
      {"--any", {.any = true}},
      {"--expect single_leader_belief", {.expected = {kBelief}}},
      {"--expect no_wedge", {.expected = {kWedge}}},
      {"--expect no_wedge --expect single_leader_belief", {.expected = {kWedge, kBelief}}},
      {"--promised", {.promised_only = true}},
      {"--accept-incomplete", {.accepts_incomplete = true}},
      {"--exit-code-found 7", {.found_code = 7}},
      {"--exit-code-found 0 --any", {.any = true, .found_code = 0}},
  };
  return kSaid;
}
const std::vector<Case>& AllFound() {
  static const std::vector<Case> kFound = {
      {"unpromised, unlisted", {.invariant = kBelief}},
      {"unpromised, listed", {.invariant = kBelief, .is_expected = true}},
      {"promised, unlisted", {.invariant = kBelief, .is_promised = true}},
      {"promised, listed", {.invariant = kBelief, .is_promised = true, .is_expected = true}},
  };
  return kFound;
}

// Codes by what was found, in the order of AllFound; a row for each of AllSaid.
using Codes = std::vector<std::vector<int>>;
void ExpectCodes(Measure measure, const Codes& codes) {
  ASSERT_EQ(codes.size(), AllSaid().size());
  for (size_t said = 0; said < codes.size(); ++said) {
    ASSERT_EQ(codes[said].size(), AllFound().size());
    ExitRules rules = AllSaid()[said].rules;
    rules.measure = measure;
    for (size_t found = 0; found < codes[said].size(); ++found) {
      SCOPED_TRACE(std::string(AllSaid()[said].options) + ": " +
                   std::string(AllFound()[found].found));
      const bool decides = rules.Decides(AllFound()[found].violation);
      EXPECT_EQ(CodeOf(rules, {.has_found = decides}), codes[said][found]);
    }
  }
}

TEST(ExitCodes, OfReplayAndReportFollowTheExpectations) {
  ExpectCodes(Measure::kExpectations, {{1, 0, 1, 0},
                                       {1, 0, 1, 0},
                                       {1, 0, 1, 0},
                                       {1, 0, 1, 0},
                                       {1, 0, 1, 0},
                                       {1, 0, 1, 0},
                                       {1, 0, 1, 0},
                                       {7, 0, 7, 0},
                                       {0, 0, 0, 0}});
}

TEST(ExitCodes, OfHuntAndExploreFollowThePromises) {
  ExpectCodes(Measure::kPromises, {{0, 0, 1, 1},
                                   {1, 1, 1, 1},
                                   {1, 1, 1, 1},
                                   {0, 0, 1, 1},
                                   {1, 1, 1, 1},
                                   {0, 0, 1, 1},
                                   {0, 0, 1, 1},
                                   {0, 0, 7, 7},
                                   {0, 0, 0, 0}});
}

TEST(ExitCodes, OfCheckAndServeFollowAllInvariants) {
  ExpectCodes(Measure::kInvariants, {{1, 1, 1, 1},
                                     {1, 1, 1, 1},
                                     {1, 1, 1, 1},
                                     {1, 1, 1, 1},
                                     {1, 1, 1, 1},
                                     {0, 0, 1, 1},
                                     {1, 1, 1, 1},
                                     {7, 7, 7, 7},
                                     {0, 0, 0, 0}});
}

// An answer that is missing is no pass, whatever the code of a finding is.
TEST(ExitCodes, WhatIsMissingIsToldUnlessSomethingWasFound) {
  const CommandResult nothing;
  const CommandResult found = {.has_found = true};
  const CommandResult failed = {.has_failed = true};
  const CommandResult bad = {.has_bad_input = true};
  const CommandResult early = {.is_incomplete = true};
  const CommandResult all = {
      .has_found = true, .has_failed = true, .has_bad_input = true, .is_incomplete = true};
  const CommandResult all_but_found = {
      .has_failed = true, .has_bad_input = true, .is_incomplete = true};
  const CommandResult bad_and_early = {.has_bad_input = true, .is_incomplete = true};
  struct Row {
    ExitRules rules;
    std::vector<int> codes;  // of these, in turn
  };
  const std::vector<CommandResult> results = {nothing, found, failed,        bad,
                                              early,   all,   all_but_found, bad_and_early};
  for (const Row& row : {
           Row{{}, {0, 1, 3, 2, 3, 1, 3, 2}},
           Row{{.accepts_incomplete = true}, {0, 1, 3, 2, 0, 1, 3, 2}},
           Row{{.found_code = 9}, {0, 9, 3, 2, 3, 9, 3, 2}},
           Row{{.found_code = 0}, {0, 0, 3, 2, 3, 3, 3, 2}},
           Row{{.accepts_incomplete = true, .found_code = 0}, {0, 0, 3, 2, 0, 3, 3, 2}},
       }) {
    std::vector<int> codes;
    codes.reserve(results.size());
    for (const CommandResult& result : results) codes.push_back(CodeOf(row.rules, result));
    EXPECT_EQ(codes, row.codes) << row.rules.accepts_incomplete << ' ' << row.rules.found_code;
  }
}

// --- the commands --------------------------------------------------------------------------------

struct Line {
  std::string command;
  int code = 0;
};

class CliExitCodeTest : public CliTest {
 protected:
  void Expect(const std::vector<Line>& lines) {
    for (const Line& line : lines) {
      const Ended ended = Whorl(line.command);
      EXPECT_EQ(ended.code, line.code) << "whorl " << line.command << '\n'
                                       << ended.out << ended.err;
    }
  }
};

// Two believe, which spindle_v3 does not promise to prevent.
constexpr std::string_view kPaused = R"({
  "version": 1, "about": "x", "protocol": "spindle_v3", "lease": "5s",
  "nodes": [ "a", { "name": "b", "start_at": "1s" } ], "duration": "40s", "seed": 1,
  "faults": [ { "at": "12s", "do": "pause", "node": "leader", "for": "12s" } ],
  "expect": { EXPECTED }
})";
std::string Paused(const std::string& expected) {
  std::string text(kPaused);
  return text.replace(text.find("EXPECTED"), 8, expected);
}

TEST_F(CliExitCodeTest, OfReplayAndReport) {
  Write("unlisted.json", Paused(R"("holds": ["one_live_token"])"));
  Write("listed.json", Paused(R"("violates": ["single_leader_belief", "handed_token_monotonic",
                               "has_lock_truthful", "single_worker"])"));
  Write("quiet.json", std::string(kQuiet));
  Write("bad.json", "{");
  Expect({{"replay quiet.json", 0},
          {"replay listed.json", 0},
          {"replay unlisted.json", 1},
          {"replay unlisted.json --exit-code-found 7", 7},
          {"replay unlisted.json --exit-code-found 0", 0},
          {"replay bad.json", 2},
          {"replay quiet.json bad.json", 2},
          {"replay unlisted.json bad.json", 1},
          {"replay unlisted.json bad.json --exit-code-found 0", 2},
          {"replay quiet.json --out /dev/full", 3},
          {"replay quiet.json --repeat 4 --shard 1/2 --out 1.part", 0},
          {"replay --merge 1.part", 3},
          {"replay --merge 1.part --accept-incomplete", 0}});
  if (Whorl("report quiet.json --html index.html").code == 3) GTEST_SKIP() << "no pages";
  Expect({{"report quiet.json listed.json --html index.html", 0},
          {"report quiet.json unlisted.json --html index.html", 1},
          {"report quiet.json bad.json --html index.html", 2},
          {"report unlisted.json bad.json --html index.html", 1}});
}

TEST_F(CliExitCodeTest, OfHunt) {
  const std::string broken = "hunt --protocol spindle_v2 --duration 40s --runs 60 --seed 4 ";
  Expect({{broken, 0},
          {broken + "--promised", 0},
          {broken + "--any", 1},
          {broken + "--any --exit-code-found 7", 7},
          {broken + "--any --exit-code-found 0", 0},
          {broken + "--expect lease_respected", 1},
          {broken + "--expect single_worker --expect lease_respected", 1},
          {broken + "--expect no_wedge", 0},
          {broken + "--invariant lease_respected", 0},
          {broken + "--invariant lease_respected --expect lease_respected", 1},
          {broken + "--invariant lease_respected --expect no_wedge", 2},
          {broken + "--promised --expect lease_respected", 2},
          {broken + "--expect lease_respeted", 2},
          {broken + "--canary fenced_lease", 3},
          {broken + "--for 1ns", 0},
          {broken + "--out /dev/full", 3},
          {broken + "--shard 1/2 --out 1.jsonl", 0},
          {broken + "--shard 2/2 --out 2.jsonl", 0},
          {"hunt --merge 1.jsonl 2.jsonl", 0},
          {"hunt --merge 1.jsonl 2.jsonl --any", 1},
          {"hunt --merge 1.jsonl 2.jsonl --expect lease_respected", 1},
          {"hunt --merge 1.jsonl", 3},
          {"hunt --merge 1.jsonl --accept-incomplete", 0},
          {"hunt --merge 1.jsonl --any", 1},
          {"hunt --compare spindle_v3 fenced_lease --duration 40s --runs 20 --any", 2}});
  Expect({{"hunt --protocol lease_lock --beyond-assumptions --runs 100", 1}});
  // Within its assumptions no protocol of ours breaks what it promises: one whose report says so.
  Shell(
      "sed 's/\"promised\":false,\"replay\"/\"promised\":true,\"replay\"/;t;"
      "s/\"line\":\"finding\"\\(.*\\)\"promised\":false/\"line\":\"finding\"\\1\"promised\":true/' "
      "1.jsonl >broken.jsonl");
  Expect({{"hunt --merge broken.jsonl 2.jsonl", 1},
          {"hunt --merge broken.jsonl", 1},
          {"hunt --merge broken.jsonl 2.jsonl --exit-code-found 0", 0},
          {"hunt --merge broken.jsonl --exit-code-found 0", 3}});
}

TEST_F(CliExitCodeTest, OfExplore) {
  const std::string broken = "explore --protocol spindle_v3 --pauses 1 --horizon 10s ";
  const std::string large = "explore --protocol fenced_lease --crashes 2 --losses 2 --memory 3 ";
  Expect({{"explore --protocol fenced_lease --constants grid", 0},
          {broken, 0},
          {broken + "--promised", 0},
          {broken + "--first", 0},
          {broken + "--first --any", 1},
          {broken + "--any", 1},
          {broken + "--expect single_leader_belief", 1},
          {broken + "--expect isolation", 0},
          {broken + "--promised --expect isolation", 2},
          {broken + "--expect no_wedge", 2},
          {large, 3},
          {large + "--accept-incomplete", 0}});
  // Beyond what semaphore assumes of CURRENT_TIMESTAMP.
  Expect({{"explore --protocol semaphore --current-timestamp-error 4s --horizon 8s", 1}});
}

TEST_F(CliExitCodeTest, OfCheck) {
  Write("two.jsonl",
        R"({"event":"started","id":"a","lock":"job","time":"2026-01-01T00:00:09Z"}
{"event":"leads","id":"a","lock":"job","time":"2026-01-01T00:00:10Z"}
{"event":"leads","id":"b","lock":"job","time":"2026-01-01T00:00:20Z"}
{"event":"lost","id":"a","lock":"job","time":"2026-01-01T00:00:30Z"}
{"event":"lost","id":"b","lock":"job","time":"2026-01-01T00:00:40Z"}
)");
  Write("resource.jsonl",
        R"({"event":"write","id":"db","lock":"job","time":"2026-01-01T00:00:10Z","token":7}
{"event":"write","id":"db","lock":"job","time":"2026-01-01T00:00:11Z","token":6}
)");
  Write("bad.jsonl", "{\n");
  const std::string options = " --protocol spindle_v2 --lease 10s --clock-error 10ms ";
  Expect({{"check two.jsonl" + options, 1},
          {"check two.jsonl bad.jsonl" + options, 1},
          {"check two.jsonl" + options + "--promised", 0},
          {"check two.jsonl bad.jsonl" + options + "--promised", 2},
          {"check resource.jsonl" + options, 1},
          {"check resource.jsonl" + options + "--promised", 1},
          {"check bad.jsonl" + options, 2},
          {"check two.jsonl", 2},
          {"check two.jsonl" + options + "--promised --html nowhere/page.html", 3}});
  const Ended apart = Whorl("check two.jsonl" + options + "--promised");
  EXPECT_THAT(apart.out, HasSubstr("not promised, so that the exit code is not 1 for it"));
  EXPECT_EQ(nlohmann::json::parse(Whorl("check two.jsonl --json" + options).out)["decides"],
            nlohmann::json::parse(R"(["single_leader_belief"])"));
}

// What does not decide is told all the same, apart from what does.
TEST_F(CliExitCodeTest, WhatDoesNotDecideIsListedApart) {
  const std::string hunt = "hunt --protocol spindle_v2 --duration 40s --runs 60 --seed 4 ";
  const std::string head = "\nfound, and not promised, so that the exit code is not 1 for it";
  const Ended apart = Whorl(hunt + "--expect isolation");
  const size_t at = apart.out.find(head);
  ASSERT_NE(at, std::string::npos) << apart.out;
  EXPECT_THAT(apart.out.substr(at), HasSubstr("lease_respected violated at"));
  EXPECT_THAT(apart.out.substr(0, at), Not(HasSubstr("lease_respected violated at")));
  const std::string any = Whorl(hunt + "--any").out;
  EXPECT_THAT(any, Not(HasSubstr(head)));
  EXPECT_THAT(any, HasSubstr("\nfound, and not promised, and named by --any or --expect:\n"));
}

// A code that nobody understands is switched off.
TEST_F(CliExitCodeTest, TheLastLineSaysWhyTheCodeIsWhatItIs) {
  const std::string hunt = "hunt --protocol spindle_v2 --duration 40s --runs 60 --seed 4 ";
  const std::string found =
      "60 runs: 0 promises broken; [0-9]+ kinds of violations outside of what is promised; ";
  EXPECT_THAT(
      LastLine(Whorl(hunt)),
      MatchesRegex(
          found +
          "exit code 0, since nothing that was found is promised .--any, --expect INVARIANT."));
  EXPECT_THAT(LastLine(Whorl(hunt + "--any")),
              MatchesRegex(found + "exit code 1, since --any or --expect names what was found"));
  EXPECT_EQ(LastLine(Whorl(hunt + "--promised")), "60 runs: 0 promises broken; exit code 0");
  EXPECT_THAT(LastLine(Whorl(hunt + "--any --exit-code-found 42")),
              HasSubstr("; exit code 42 (--exit-code-found), since"));
  const std::string explore =
      "explore --protocol spindle_v3 --pauses 1 --horizon 10s --invariant single_leader_belief ";
  EXPECT_EQ(
      LastLine(Whorl(explore)),
      "0 promises broken; 1 violation outside of what is promised; exit code 0, since nothing "
      "that was found is promised (--any, --expect INVARIANT)");
  EXPECT_EQ(LastLine(Whorl(explore + "--any")),
            "0 promises broken; 1 violation outside of what is promised; exit code 1, since --any "
            "or --expect "
            "names what was found");
  EXPECT_THAT(LastLine(Whorl("explore --protocol fenced_lease --crashes 1 --memory 1M")),
              HasSubstr("; exit code 3, since memory was used up before its end"));
}

// The first line is the answer, before figures that nobody asked for.
TEST_F(CliExitCodeTest, AHuntBeginsWithThePromises) {
  EXPECT_THAT(Whorl("hunt --protocol fenced_lease --duration 40s --runs 60 --seed 4").out,
              StartsWith("fenced_lease: 0 promises broken in 60 runs; "));
  EXPECT_THAT(
      Whorl("hunt --protocol fenced_lease --duration 40s --runs 6 --seed 4 --invariant isolation")
          .out,
      StartsWith("fenced_lease: 0 promises broken in 6 runs (looked for isolation alone)\n"));
}

// The page is what people read: its table has the commands, and each command's help names the page.
TEST_F(CliExitCodeTest, HelpNamesThePage) {
  for (const char* command : {"replay", "report", "hunt", "explore", "check"}) {
    EXPECT_THAT(Whorl(std::string(command) + " --help").out, HasSubstr("docs/EXIT_CODES.md"));
  }
}

}  // namespace
}  // namespace whorl::exit_code_test
