// `whorl hunt --compare A B` as people and scripts use it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/cli_testing.h"
#include "tests/cli/json_lines.h"

namespace whorl::cli_hunt_compare_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSmall = "--duration 40s --runs 60 --seed 4 ";

class CliCompareTest : public CliTest {
 protected:
  Ended Small(const std::string& protocols, const std::string& more = "") {
    return Whorl("hunt --compare " + protocols + " " + kSmall + more);
  }
  std::vector<json> SmallLines(const std::string& protocols, const std::string& more = "") {
    return JsonLines(Small(protocols, "--json " + more).out);
  }
};

// The second is the change: an invariant that it breaks, and the first keeps, is what a script asks for.
TEST_F(CliCompareTest, EndsWithOneIfTheSecondBreaksWhatTheFirstKeeps) {
  EXPECT_THAT(
      Small("spindle_v3 fenced_lease"),
      Ends(0, AllOf(HasSubstr("first: spindle_v3, second: fenced_lease; 60 worlds, each for both"),
                    HasSubstr("\nbroken by spindle_v3 only: handed_token_monotonic (not promised "
                              "there; fenced_lease promises it)"),
                    HasSubstr("\nbroken by fenced_lease only: nothing\n"),
                    HasSubstr("\nfirst takeover, s"), HasSubstr("\ncommits per lock-hour"))));
  EXPECT_THAT(Small("fenced_lease spindle_v3"),
              Ends(1, HasSubstr("\nbroken by fenced_lease only: nothing\n")));
  EXPECT_EQ(Small("fenced_lease spindle_v3", "--exit-code-found 7").code, 7);
}

TEST_F(CliCompareTest, AProtocolBesideItselfShowsNoDifference) {
  EXPECT_THAT(Small("spindle_v2 spindle_v2"),
              Ends(0, AllOf(HasSubstr("; 60 the same to the event\n"),
                            HasSubstr("\nbroken by the first spindle_v2 only: nothing\n"),
                            HasSubstr("\nbroken by the second spindle_v2 only: nothing\n"))));
  for (const json& line : SmallLines("spindle_v2 spindle_v2")) {
    if (line["line"] == "figure") {
      EXPECT_EQ(line["of"][0], line["of"][1]);
      for (const char* quantile : {"p50", "p99"}) {
        EXPECT_EQ(line["difference"][quantile]["value"], 0) << line;
      }
    }
    EXPECT_NE(line["line"], "finding");
  }
}

// Standard output depends on the options alone.
TEST_F(CliCompareTest, JobsChangeNoByte) {
  for (const std::string form : {"", "--json "}) {
    EXPECT_EQ(Small("spindle_v3 fenced_lease", form + "--jobs 1").out,
              Small("spindle_v3 fenced_lease", form + "--jobs 2").out);
  }
}

TEST_F(CliCompareTest, JsonLinesSayWhatIsComparedAndFound) {
  const std::vector<json> lines = SmallLines("spindle_v3 fenced_lease");
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.front()["protocols"], json({"spindle_v3", "fenced_lease"}));
  EXPECT_EQ(lines.back()["line"], "end");
  EXPECT_EQ(lines.back()["runs"], 60);
  size_t invariants = 0;
  size_t figures = 0;
  for (const json& line : lines) {
    EXPECT_EQ(line["format"], "whorl-compare");
    invariants += line["line"] == "invariant" ? 1 : 0;
    figures += line["line"] == "figure" ? 1 : 0;
    if (line["line"] != "finding") continue;
    EXPECT_EQ(line["side"], 0);
    // It replays, with the same result as here.
    EXPECT_THAT(Shell(line["replay"].get<std::string>()),
                Ends(0, HasSubstr(line["invariant"].get<std::string>() + " violated at")))
        << line;
  }
  EXPECT_EQ(invariants, 16U);
  EXPECT_EQ(figures, 5U);
}

TEST_F(CliCompareTest, WritesTheLinesIntoAFileAndScenariosIntoAFolder) {
  EXPECT_THAT(Small("spindle_v3 fenced_lease", "--out lines.jsonl --save found --no-pages"),
              Ends(0, HasSubstr("first: spindle_v3")));
  EXPECT_THAT(ReadText(folder_ / "lines.jsonl"), HasSubstr("\"line\":\"end\""));
  EXPECT_THAT(Files("found"), testing::Contains(testing::StartsWith("spindle_v3.lease_respected")));
  EXPECT_EQ(Whorl("replay found").code, 0);
}

TEST_F(CliCompareTest, ShowsTheWorldOfARunForEither) {
  const std::string tail = " --seed 4 --duration 40s --show 3";
  const std::string first = Whorl("hunt --compare spindle_v2 fenced_lease" + tail).out;
  std::string second = Whorl("hunt --compare fenced_lease spindle_v2" + tail).out;
  EXPECT_THAT(first, HasSubstr("\"spindle_v2\""));
  const size_t place = second.find("\"fenced_lease\"");
  ASSERT_NE(place, std::string::npos) << second;
  second.replace(place, std::string("\"fenced_lease\"").size(), "\"spindle_v2\"");
  EXPECT_EQ(first, second);
  EXPECT_EQ(
      Shell("\"$W\" hunt --compare fenced_lease spindle_v2" + tail + " | \"$W\" replay -").code, 0);
}

TEST_F(CliCompareTest, RefusesWhatDoesNotGoWithIt) {
  const std::string compare = "hunt --compare spindle_v2 fenced_lease ";
  ExpectUsageError(compare + "--protocol all", "leave --protocol out");
  ExpectUsageError(compare + "--from x.json", "replay it with either name in it");
  for (const char* option : {"--shard 1/2", "--checkpoint kept"}) {
    ExpectUsageError(compare + option, "it is done in one piece; give fewer --runs");
  }
  ExpectUsageError(compare + "--canary spindle_v2", "compare with spindle_v2 to see");
  ExpectUsageError(compare + "--table .", "it prints a table of its own");
  ExpectUsageError(compare + "--digests d", "hunt each by itself");
  ExpectUsageError(compare + "--merge a.jsonl", "--merge makes no runs; it does not go with");
  ExpectUsageError(compare + "--runs 1000001", "give --runs of at most 1000000");
  ExpectUsageError("hunt --compare spindle_v2 fenced_leas",
                   "--compare: unknown protocol \"fenced_leas\"; did you mean \"fenced_lease\"?");
  EXPECT_THAT(Whorl("hunt --compare spindle_v2"), Ends(2, IsEmpty(), HasSubstr("--compare")));
}

TEST_F(CliCompareTest, OutputThatCannotBeWrittenEndsWithThree) {
  EXPECT_EQ(Small("spindle_v2 fenced_lease", ">/dev/full").code, 3);
  EXPECT_EQ(Small("spindle_v2 fenced_lease", "--out /nowhere/lines").code, 3);
}

// In the foreground, since timeout otherwise sends the signal twice, and a second one ends it at once.
TEST_F(CliCompareTest, InterruptedItReportsWhatItHas) {
  const Ended ended = Shell(
      "timeout --foreground --signal=INT 2 \"$W\" hunt --compare spindle_v2 fenced_lease --runs "
      "500000 --invariant isolation");
  EXPECT_THAT(ended.out, AllOf(HasSubstr("ended early, after "), HasSubstr(" of 500,000 worlds")));
}

}  // namespace
}  // namespace whorl::cli_hunt_compare_test
