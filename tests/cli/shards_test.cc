// `whorl replay` and `whorl bench takeover` in parts, which add up to the whole.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "tests/cli/cli_testing.h"

namespace whorl::cli_shards_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Real time is of the machines, not of the runs.
std::string WithoutTimes(const std::string& json) {
  return std::regex_replace(json, std::regex(R"("wall_seconds": [0-9.e+-]+)"), "");
}
std::string WithoutRatio(const std::string& table) {
  return std::regex_replace(table, std::regex(R"( +([0-9,]+:1|-)  )"), "  ");
}

class CliReplayShardsTest : public CliTest {
 protected:
  // Seven seeds of each of two scenarios; one scenario is not as its file expects.
  CliReplayShardsTest() {
    Write("quiet.json", kQuiet);
    std::string noisy(kQuiet);
    noisy.replace(noisy.find("\"seed\": 5"), 9, "\"seed\": 8");
    noisy.replace(noisy.find("\"holds\": [\"one_live_token\"]"), 27,
                  "\"sometimes\": [\"aborted\"]");
    Write("noisy.json", noisy);
  }
  std::string Runs(const std::string& more) {
    return "replay quiet.json noisy.json --repeat 7 --seed 3 " + more;
  }
  Ended Make(int shard, const std::string& more = "") {
    const std::string place = std::to_string(shard);
    return Whorl(
        Runs("--shard " + place + "/3 --exit-code-found 0 --out " + place + ".part " + more));
  }
};

// Many machines are of use only if nobody can tell them from one.
TEST_F(CliReplayShardsTest, ShardsInAnyOrderAndTwiceAreTheWhole) {
  const Ended json = Whorl(Runs("--json"));
  const Ended text = Whorl(Runs(""));
  ASSERT_EQ(json.code, 1) << json.err;
  ASSERT_THAT(text.out,
              AllOf(HasSubstr("FAILED"), HasSubstr("2 scenarios: 1 as expected, 1 failed")));
  for (const int shard : {1, 2, 3}) EXPECT_EQ(Make(shard).code, 0);
  for (const std::string files :
       {"1.part 2.part 3.part", "3.part 1.part 2.part", "2.part 3.part 2.part 1.part 1.part"}) {
    const Ended sum = Whorl("replay --json --merge " + files);
    EXPECT_EQ(sum.code, 1) << sum.err;
    EXPECT_EQ(WithoutTimes(sum.out), WithoutTimes(json.out)) << files;
    const Ended table = Whorl("replay --merge " + files);
    EXPECT_EQ(WithoutRatio(table.out), WithoutRatio(text.out)) << files;
  }
  EXPECT_EQ(Whorl("replay --exit-code-found 0 --merge 1.part 2.part 3.part").code, 0);
}

// What is missing is not taken for nothing; and a sum of some is merged with the rest.
TEST_F(CliReplayShardsTest, AMissingShardIsSaid) {
  for (const int shard : {1, 2, 3}) Make(shard);
  const Ended text = Whorl("replay --merge 3.part 1.part");
  EXPECT_THAT(text.out, HasSubstr("; of 3 shards, 2 are here, without shard 2/3\n"));
  const std::string some = "replay --exit-code-found 0 --out some.part --merge 3.part 1.part";
  EXPECT_THAT(Whorl(some), Complains(3, HasSubstr("--accept-incomplete")));
  EXPECT_EQ(Whorl(some + " --accept-incomplete").code, 0);
  const Ended sum = Whorl("replay --json --merge some.part 2.part 3.part");
  EXPECT_EQ(WithoutTimes(sum.out), WithoutTimes(Whorl(Runs("--json")).out)) << sum.err;
  EXPECT_THAT(Make(2, "--jobs 1").out, HasSubstr("; of 3 shards, 1 is here\n"));
}

// A folder is shared out, too: a shard may have no run of some scenario, or none at all.
TEST_F(CliReplayShardsTest, AFolderIsSharedOut) {
  const std::string all = "replay quiet.json noisy.json ";
  for (const std::string shard : {"1", "2", "3"}) {
    EXPECT_EQ(
        Whorl(all + "--exit-code-found 0 --shard " + shard + "/3 --out " + shard + ".part").code,
        0);
  }
  const Ended sum = Whorl("replay --json --merge 3.part 2.part 1.part");
  EXPECT_EQ(WithoutTimes(sum.out), WithoutTimes(Whorl(all + "--json").out)) << sum.err;
}

TEST_F(CliReplayShardsTest, AnEngineSaysWhichShardItIs) {
  const std::string ran = "replay quiet.json --repeat 7 --out 2.part --shard auto";
  EXPECT_THAT(Shell("JOB_COMPLETION_INDEX=1 \"$W\" " + ran + "/3"),
              Complains(0, HasSubstr("shard 2/3, by Kubernetes, JOB_COMPLETION_INDEX=1")));
  EXPECT_THAT(ReadText(folder_ / "2.part"), HasSubstr("\"covered\":[[2,2]]"));
  EXPECT_THAT(Shell("JOB_COMPLETION_INDEX=1 \"$W\" " + ran),
              Complains(2, HasSubstr("give --shard auto/N")));
}

// The sum would be of two programs, or of two replays.
TEST_F(CliReplayShardsTest, WhatDoesNotBelongTogetherIsRefused) {
  for (const int shard : {1, 2, 3}) Make(shard);
  ASSERT_EQ(Shell("sed 's/\\[\"5\",\"./[\"5\",\"0/' 3.part > other.part").code, 0);
  ASSERT_NE(ReadText(folder_ / "other.part"), ReadText(folder_ / "3.part"));
  EXPECT_THAT(
      Whorl("replay --merge 3.part other.part"),
      Complains(1, HasSubstr("shard 3/3 is in 3.part, too, and the same runs came out otherwise")));
  // Of the run that is shown, which is made again.
  EXPECT_THAT(Whorl("replay --merge 1.part 2.part other.part"),
              Complains(1, HasSubstr("quiet.json: seed 5 ended otherwise")));

  ASSERT_EQ(Whorl("replay quiet.json noisy.json --repeat 8 --seed 3 --shard 1/3 --out longer.part "
                  "--exit-code-found 0")
                .code,
            0);
  EXPECT_THAT(Whorl("replay --merge 1.part longer.part"),
              Complains(2, HasSubstr("longer.part: of another replay")));
  ASSERT_EQ(Shell("head -c 300 2.part > cut.part").code, 0);
  EXPECT_THAT(
      Whorl("replay --merge 1.part cut.part"),
      Complains(2, AllOf(HasSubstr("cut.part: "), HasSubstr("cut off; run the shard again"))));
  ASSERT_EQ(Whorl("replay quiet.json --out whole.json").code, 0);
  EXPECT_THAT(Whorl("replay --merge whole.json").err, HasSubstr("of another format"));
  EXPECT_THAT(Whorl("replay --merge 1.part --out ./1.part").err,
              HasSubstr("would write over the report"));
  EXPECT_THAT(Whorl("replay --merge nowhere.part").err, HasSubstr("nowhere.part: cannot be read"));
  ExpectUsageError("replay --repeat 3 --merge 1.part",
                   "--merge makes no runs; it does not go with --repeat");
  ExpectUsageError("replay quiet.json --timeline --shard 1/3", "it does not go with --shard");
  Write("bad.json", "{}");
  EXPECT_THAT(Whorl("replay quiet.json bad.json --shard 1/3"), Ends(2, IsEmpty()));
}

class CliTakeoverShardsTest : public CliTest {
 protected:
  static constexpr const char* kCases =
      "bench takeover --protocol fenced_lease,spindle_v2,semaphore --fault "
      "crash,cut_off,announced_stop "
      "--lease 1s,2s --runs 20 ";
  Ended Make(int shard, const std::string& more = "") {
    const std::string place = std::to_string(shard);
    return Whorl(kCases + ("--shard " + place + "/3 --out " + place + ".part " + more));
  }
};

TEST_F(CliTakeoverShardsTest, ShardsInAnyOrderAndTwiceAreTheWhole) {
  const Ended text = Whorl(std::string(kCases) + "--out whole.jsonl --csv whole.csv");
  ASSERT_EQ(text.code, 0) << text.err;
  for (const int shard : {1, 2, 3}) EXPECT_EQ(Make(shard).code, 0);
  for (const std::string files : {"1.part 2.part 3.part", "3.part 1.part 3.part 2.part"}) {
    const Ended sum = Whorl("bench takeover --out sum.jsonl --csv sum.csv --merge " + files);
    EXPECT_EQ(sum.code, 0) << sum.err;
    EXPECT_EQ(sum.out, text.out);
    for (const std::string kind : {".jsonl", ".csv"}) {
      EXPECT_EQ(ReadText(folder_ / ("sum" + kind)), ReadText(folder_ / ("whole" + kind))) << kind;
    }
  }
  // Every shard has some of them.
  EXPECT_THAT(ReadText(folder_ / "1.part"), Not(HasSubstr("\"covered\":[[1,0]]")));
}

// A disk that is full in the middle: what does not fit is told, and the rest is there.
TEST_F(CliTakeoverShardsTest, OnAFullDiskTheTableIsPrintedAndNothingIsHalfWritten) {
  const Ended whole = Whorl(std::string(kCases) + "--csv whole.csv");
  ASSERT_GT(fs::file_size(folder_ / "whole.csv"), 512u);
  const Ended full = Shell("{ (trap '' XFSZ; ulimit -f 1; \"$W\" " + std::string(kCases) +
                           "--csv some.csv --out some.jsonl); echo $? >code; } | cat");
  EXPECT_EQ(ReadText(folder_ / "code"), "3\n");
  EXPECT_EQ(full.out, whole.out);
  EXPECT_THAT(full.err, HasSubstr("some.jsonl: cannot be written: "));
  EXPECT_THAT(Files("."), Not(testing::Contains(HasSubstr("some."))));
  // The same holds for a replay, which prints its summary last.
  Write("quiet.json", kQuiet);
  const std::string replay = "replay quiet.json --repeat 40 --out some.json";
  const Ended replayed =
      Shell("{ (trap '' XFSZ; ulimit -f 1; \"$W\" " + replay + "); echo $? >code; } | cat");
  EXPECT_EQ(ReadText(folder_ / "code"), "3\n");
  EXPECT_THAT(replayed.out, HasSubstr("1 scenario: 1 as expected"));
  EXPECT_THAT(replayed.err, HasSubstr("some.json: cannot be written: "));
}

TEST_F(CliTakeoverShardsTest, AMissingShardIsSaid) {
  for (const int shard : {1, 2, 3}) Make(shard);
  EXPECT_THAT(Whorl("bench takeover --merge 2.part 3.part").out,
              HasSubstr("; of 3 shards, 2 are here, without shard 1/3\n"));
  EXPECT_EQ(Whorl("bench takeover --out some.part --merge 2.part 3.part").code, 0);
  const Ended sum = Whorl("bench takeover --json --merge some.part 1.part");
  EXPECT_EQ(sum.out, Whorl(std::string(kCases) + "--json").out) << sum.err;
}

TEST_F(CliTakeoverShardsTest, WhatDoesNotBelongTogetherIsRefused) {
  for (const int shard : {1, 2}) Make(shard);
  ASSERT_EQ(Make(3, "--seed 2").code, 0);
  EXPECT_THAT(Whorl("bench takeover --merge 1.part 2.part 3.part"),
              Complains(2, HasSubstr("3.part: of another bench")));
  ASSERT_EQ(Shell("sed 's/\"kept\":0/\"kept\":1/' 2.part > other.part").code, 0);
  EXPECT_THAT(Whorl("bench takeover --merge 2.part other.part"),
              Complains(1, HasSubstr("the same cases came out otherwise")));
  ExpectUsageError("bench takeover --csv x.csv --shard 1/3", "--csv shows all cases");
  ExpectUsageError("bench takeover --runs 3 --merge 1.part",
                   "--merge makes no runs; it does not go with --runs");
  ExpectUsageError("bench takeover --shard 4/3",
                   "I of --shard I/N wants a whole number from 1 to 3");
}

}  // namespace
}  // namespace whorl::cli_shards_test
