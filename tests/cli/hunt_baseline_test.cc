// `whorl hunt --save-baseline`, `--baseline` and `--compare-commands` as people and scripts use them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/cli_testing.h"
#include "tests/cli/json_lines.h"

namespace whorl::cli_hunt_baseline_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* kSmall = "--protocol spindle_v3 --duration 30s --runs 60 --seed 4 ";

class CliBaselineTest : public CliTest {
 protected:
  void Save(const std::string& name) {
    ASSERT_THAT(Whorl(std::string("hunt ") + kSmall + "--save-baseline " + name),
                Ends(0, StartsWith(name + ": 60 runs, ")));
  }

  // Writes the file so that the figure was 0 in every run.
  void Forget(const std::string& name, const std::string& figure) {
    std::string text;
    for (json& line : JsonLines(ReadText(folder_ / name))) {
      if (line.value("name", "") == figure) {
        line["runs"] = 0;
        line["sum"] = 0;
        line["levels"] = "A60";
      }
      text += line.dump() + "\n";
    }
    Write(name, text);
  }
};

TEST_F(CliBaselineTest, OfUnchangedCodeEndsWithZero) {
  Save("b");
  EXPECT_THAT(Whorl("hunt --baseline b"), Ends(0, "spindle_v3: all 60 runs are as recorded\n"));
  EXPECT_THAT(Whorl(std::string("hunt ") + kSmall + "--baseline b"), Ends(0));
}

// The file stands in a repository, so it is the same on every machine.
TEST_F(CliBaselineTest, JobsChangeNoByteOfTheFile) {
  for (const std::string jobs : {"1", "2"}) {
    ASSERT_THAT(
        Whorl(std::string("hunt ") + kSmall + "--jobs " + jobs + " --save-baseline " + jobs),
        Ends(0));
  }
  EXPECT_EQ(ReadText(folder_ / "1"), ReadText(folder_ / "2"));
}

TEST_F(CliBaselineTest, EndsWithOneAndNamesWhatMovedAndARunThatShowsIt) {
  Save("b");
  Forget("b", "rpcs");
  const Ended ended = Whorl("hunt --baseline b");
  EXPECT_THAT(
      ended,
      Ends(1, AllOf(HasSubstr("0 of which differ; 1 of "), HasSubstr("metric rpcs  more      0.00"),
                    HasSubstr("hunt --protocol spindle_v3 --seed 4 --duration 30s --show"),
                    HasSubstr("to take these runs as the baseline: "))));
  const std::vector<json> lines = JsonLines(Whorl("hunt --baseline b --json --out o").out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0]["moved"], 1);
  EXPECT_EQ(lines[1]["name"], "rpcs");
  EXPECT_EQ(lines[1]["move"], "more");
  EXPECT_EQ(lines[1]["rose"], 60);
  EXPECT_EQ(lines[2]["line"], "end");
  EXPECT_EQ(JsonLines(ReadText(folder_ / "o")), lines);
  EXPECT_THAT(Shell(lines[1]["show"]), Ends(0, HasSubstr("\"protocol\": \"spindle_v3\"")));
  EXPECT_EQ(Whorl("hunt --baseline b --exit-code-found 7").code, 7);
}

TEST_F(CliBaselineTest, RefusesOptionsThatAreNotTheFilesWithTheRemedy) {
  Save("b");
  ExpectUsageError("hunt --baseline b --seed 5",
                   "b: it was recorded with --seed 4; leave --seed out, or record another one");
  ExpectUsageError("hunt --baseline b --runs 61", "with --runs 60; leave --runs out");
  ExpectUsageError("hunt --baseline b --protocol all", "with --protocol spindle_v3; leave");
  ExpectUsageError("hunt --baseline b --duration 31s", "with --duration 30s; leave");
  ExpectUsageError("hunt --baseline b --faults pause", "with --faults left out; leave");
  ExpectUsageError("hunt --baseline b --beyond-assumptions", "with --beyond-assumptions left out");
}

TEST_F(CliBaselineTest, RefusesWhatDoesNotGoWithIt) {
  ExpectUsageError("hunt --save-baseline b --baseline b",
                   "give one of --save-baseline, --baseline");
  ExpectUsageError("hunt --save-baseline b --promised", "all invariants are recorded");
  ExpectUsageError("hunt --save-baseline b --json", "it prints nothing; read FILE");
  ExpectUsageError("hunt --save-baseline b --runs 100001", "give --runs of at most 100000");
  ExpectUsageError("hunt --baseline b --shard 1/2", "it is done in one piece");
  ExpectUsageError("hunt --baseline b --for 3s", "give --runs");
  ExpectUsageError("hunt --compare-commands a b --guide", "drawn by their numbers alone");
  EXPECT_THAT(Whorl("hunt --baseline nowhere"), Ends(3, IsEmpty(), HasSubstr("nowhere")));
}

TEST_F(CliBaselineTest, WhatCannotBeWrittenEndsWithThree) {
  EXPECT_EQ(Whorl("hunt --runs 5 --save-baseline /nowhere/b").code, 3);
  EXPECT_EQ(Whorl("hunt --runs 5 --save-baseline /dev/full").code, 3);
}

// Two builds, which need not be one program.
TEST_F(CliBaselineTest, ComparesTwoCommands) {
  EXPECT_THAT(Whorl(std::string("hunt ") + kSmall + "--compare-commands \"$W\" \"env A=b $W\""),
              Ends(0, "spindle_v3: all 60 runs are the same\n"));
  // A whorl whose spindle_v3 is spindle_v2.
  Write("other",
        "#!/bin/sh\nfor file do :; done\n"
        "\"$W\" $(echo \"$@\" | sed 's/spindle_v3/spindle_v2/') || exit\n"
        "sed -i 's/spindle_v2/spindle_v3/g' \"$file\"\n");
  EXPECT_THAT(Shell(std::string("export W; chmod +x other; \"$W\" hunt ") + kSmall +
                    "--compare-commands \"$W\" ./other"),
              Ends(1, AllOf(HasSubstr("the worlds of 60 of them are drawn otherwise"),
                            HasSubstr("calls "), HasSubstr("./other hunt --protocol spindle_v3"))));
}

TEST_F(CliBaselineTest, NamesTheCommandThatRecordsNothing) {
  const std::string hunt = std::string("hunt ") + kSmall + "--compare-commands ";
  EXPECT_THAT(Whorl(hunt + "\"$W\" ./nowhere"),
              Complains(2, HasSubstr("--compare-commands: \"./nowhere\" cannot be started")));
  Write("old", "#!/bin/sh\necho 'whorl: there is no option --save-baseline' >&2\nexit 2\n");
  EXPECT_THAT(Shell("chmod +x old; \"$W\" " + hunt + "./old \"$W\""),
              Complains(2, AllOf(HasSubstr("there is no option --save-baseline"),
                                 HasSubstr("\"./old\" ended with 2"),
                                 HasSubstr("older than --save-baseline"))));
  EXPECT_THAT(Whorl(hunt + "true \"$W\""),
              Complains(2, HasSubstr("\"true\" ended with 0 and recorded nothing")));
}

// In the foreground, since timeout otherwise sends the signal twice, and a second one ends it at once.
TEST_F(CliBaselineTest, InterruptedItSaysThatThereIsNothingToCompare) {
  EXPECT_THAT(Shell("timeout --preserve-status --foreground --signal=INT 2 \"$W\" hunt --runs "
                    "100000 --duration 600s "
                    "--save-baseline b"),
              Complains(3, HasSubstr("interrupted after ")));
  EXPECT_FALSE(fs::exists(folder_ / "b"));
}

}  // namespace
}  // namespace whorl::cli_hunt_baseline_test
