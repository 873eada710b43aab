// `whorl bench` as people and scripts use it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/cli_testing.h"
#include "tests/cli/json_lines.h"

namespace whorl::bench_test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

using CliBenchTest = CliTest;

// The message about an unknown word names the sub-command.
TEST_F(CliBenchTest, TyposInNestedSubCommandsGetTheNearestWord) {
  ExpectUsageError("bench", "a sub-command is missing (whorl bench --help says what there is)");
  ExpectUsageError("bench takeovr", "unknown sub-command takeovr; did you mean takeover?");
  ExpectUsageError("bench --sed 7", "unknown option --sed");
  ExpectUsageError("bench takeover --leese 5s",
                   "unknown option --leese; did you mean --lease? (whorl bench takeover --help "
                   "says what there is)");
  ExpectUsageError("bench takeover extra", "unexpected argument extra");
  ExpectUsageError("bench replay", "unknown sub-command replay");
}

TEST_F(CliBenchTest, HelpIsThatOfTheInnermostSubCommand) {
  const Ended bench = Whorl("bench --help");
  EXPECT_EQ(bench.code, 0);
  EXPECT_THAT(bench.out, AllOf(HasSubstr("takeover"), HasSubstr("whorl bench SUBCOMMAND --help")));
  EXPECT_THAT(Whorl("bench takeover --help"),
              Ends(0, AllOf(HasSubstr("--lease"), HasSubstr("graceful_stop"))));
}

TEST_F(CliBenchTest, ImpossibleTakeoversAreRefused) {
  ExpectUsageError("bench takeover --lease 500ms", "--lease wants leases from 1s to 3600s");
  ExpectUsageError("bench takeover --lease 5", "--lease: ");
  ExpectUsageError("bench takeover --fault crush", "did you mean \"crash\"?");
  ExpectUsageError("bench takeover --protocol spindle_v4", "did you mean \"spindle_v");
  ExpectUsageError("bench takeover --protocol all,semaphore", "does not go with others");
  ExpectUsageError("bench takeover --preset regionl", "did you mean \"regional\"?");
  ExpectUsageError("bench takeover --followers 0", "--followers wants a whole number from 1 to");
  ExpectUsageError("bench takeover --followers 1,", "--followers wants a whole number from 1 to");
  ExpectUsageError("bench takeover --runs 0", "--runs wants a whole number from 1 to");
  ExpectUsageError("bench takeover --out x --csv ./x", "--out and --csv would both write ./x");
  ExpectUsageError("bench takeover --protocol semaphore --lease 1s",
                   "nothing is left to measure: semaphore crash 1s 2 regional: it allows leases "
                   "from 2s");
}

TEST_F(CliBenchTest, TakeoversAreToldAsTableLinesAndCsv) {
  const std::string cases =
      "bench takeover --protocol fenced_lease,spindle_v2 --fault crash,cut_off --lease 1s "
      "--runs 12 ";
  const Ended text = Whorl(cases + "--out o.jsonl --csv o.csv --jobs 1");
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(ContainsRegex("crash +fenced_lease +1s +2 +regional +12 +12 +0 "),
                              HasSubstr("(token UPDATE)"), HasSubstr("p99 is not known to 2 %"),
                              HasSubstr("lapse of the old leader's belief")));
  EXPECT_THAT(text.err, MatchesRegex("48 runs in [0-9.]+ s\n"));

  const Ended json = Whorl(cases + "--json --jobs 2");
  EXPECT_EQ(json.out, ReadText(folder_ / "o.jsonl"));
  const std::vector<nlohmann::json> results = JsonLines(json.out);
  ASSERT_EQ(results.size(), 4U);
  const nlohmann::json& first = results.front();
  EXPECT_EQ(first["format"], "whorl-takeover");
  EXPECT_EQ(first["fault"], "crash");
  EXPECT_EQ(first["lease_ns"], 1'000'000'000);
  EXPECT_EQ(first["takeovers"], 12);
  EXPECT_GE(first["first_write_p50_ns"], first["least_p50_ns"]);
  EXPECT_GE(first["ratio_p50"], 1.0);
  EXPECT_TRUE(first["first_write_p99_high_ns"].is_null()) << "12 runs cannot tell";

  const std::string csv = ReadText(folder_ / "o.csv");
  EXPECT_EQ(std::ranges::count(csv, '\n'), 5);
  EXPECT_THAT(csv, StartsWith("seed,protocol,fault,lease_ns,"));
  EXPECT_THAT(csv, HasSubstr("\n1,fenced_lease,crash,1000000000,2,regional,"));
}

TEST_F(CliBenchTest, TheSameSeedPrintsTheSameFigures) {
  const std::string cases = "bench takeover --fault graceful_stop --lease 5s --runs 4 ";
  const Ended one = Whorl(cases + "--seed 7 --jobs 1");
  EXPECT_EQ(one.code, 0);
  EXPECT_EQ(Whorl(cases + "--seed 7 --jobs 1").out, one.out);
  EXPECT_EQ(Whorl(cases + "--seed 7 --jobs 2").out, one.out);
  EXPECT_NE(Whorl(cases + "--seed 8 --jobs 2").out, one.out);
}

TEST_F(CliBenchTest, MeasuredIsComparedWithPaper) {
  const Ended ended = Whorl(
      "bench takeover --protocol spindle_v2 --fault crash --lease 1s --followers 1 "
      "--preset none --runs 5");
  EXPECT_THAT(ended.out, HasSubstr("on paper 2.111 / 2.880 / 3.000 s"));
}

TEST_F(CliBenchTest, PlaceThatCannotBeWrittenIsToldBeforeTheWork) {
  EXPECT_THAT(Whorl("bench takeover --runs 1 --fault crash --html /proc/none.html"),
              Complains(3, testing::AllOf(HasSubstr("/proc/none.html: cannot be written"),
                                          Not(HasSubstr("runs in")))));
}

}  // namespace
}  // namespace whorl::bench_test
