// `whorl bench cost` as people and scripts use it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/cli_testing.h"
#include "tests/cli/json_lines.h"

namespace whorl::bench_cost_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kSmall =
    "bench cost --protocol spindle_v3 --lease 5s --followers 1 --herd 2,4,9 --locks 1,2,70 "
    "--largest 4 --runs 1 --takeovers 3 ";

class CliBenchCostTest : public CliTest {
 protected:
  Ended Small(const std::string& more = "") { return Whorl(kSmall + more); }
};

TEST_F(CliBenchCostTest, PrintsTablesAndWhereTheirUnitsComeFrom) {
  EXPECT_THAT(Small(), Ends(0,
                            AllOf(HasSubstr("One lock, an hour"),
                                  HasSubstr("Followers of one lock, lease 5s"), HasSubstr("~9"),
                                  HasSubstr("~70"), HasSubstr("To choose a lease"),
                                  HasSubstr("https://cloud.google.com/spanner/docs/performance")),
                            IsEmpty()));
  EXPECT_THAT(Small("--markdown").out, HasSubstr("| protocol | lease | followers |"));
}

// People choose a lease by it.
TEST_F(CliBenchCostTest, LocksHaveALineForEachLeaseAndTheNotesSayWhatWasNotSimulated) {
  const std::string runs =
      "bench cost --protocol spindle_v3 --herd 2 --locks 1,70 --largest 4 --runs 1 --takeovers 0 ";
  EXPECT_THAT(
      Whorl(runs + "--lease 5s,30s --followers 1,2").out,
      AllOf(HasSubstr("Locks, each with 2 followers\nprotocol    lease  locks "),
            HasSubstr("\nspindle_v3     5s      1 "), HasSubstr("\nspindle_v3     5s    ~70 "),
            HasSubstr("\nspindle_v3    30s      1 "), HasSubstr("\nspindle_v3    30s    ~70 "),
            HasSubstr("Followers of one lock were measured at 5s alone, not at 30s: give "),
            HasSubstr("Several locks were simulated at 5s alone; at 30s they are multiples "
                      "of one lock, which was simulated.\n"),
            HasSubstr("measured with 2 followers alone: ")));
  EXPECT_THAT(Whorl(runs + "--lease 5s --followers 1").out,
              Not(AnyOf(HasSubstr("give one --lease"), HasSubstr("give one --followers"),
                        HasSubstr("Several locks"))));
}

TEST_F(CliBenchCostTest, JobsChangeNoByte) {
  const Ended one = Small("--jobs 1 --json");
  EXPECT_EQ(one.code, 0);
  EXPECT_EQ(Small("--jobs 3 --json").out, one.out);
  EXPECT_NE(Small("--jobs 3 --json --seed 2").out, one.out);
}

TEST_F(CliBenchCostTest, WritesLinesAndCsv) {
  EXPECT_THAT(Small("--out cost.jsonl --csv cost.csv"), Ends(0));
  const std::vector<json> parsed = JsonLines(ReadText(folder_ / "cost.jsonl"));
  ASSERT_GE(parsed.size(), 9);
  EXPECT_EQ(parsed[0]["cost"], "options");
  EXPECT_EQ(parsed[1]["cost"], "steady");
  EXPECT_EQ(parsed[1]["lease"], "5s");
  EXPECT_GT(parsed[1]["rpcs"].get<double>(), 0);
  std::istringstream csv(ReadText(folder_ / "cost.csv"));
  std::vector<std::string> rows;
  for (std::string row; std::getline(csv, row);) rows.push_back(row);
  ASSERT_EQ(rows.size(), 1 + 1 + 3 + 3);
  for (const std::string& row : rows) {
    EXPECT_EQ(std::ranges::count(row, ','), std::ranges::count(rows[0], ',')) << row;
  }
}

TEST_F(CliBenchCostTest, BadUsageNamesTheOption) {
  ExpectUsageError("bench cost --protocol spindle_v4", "--protocol: unknown protocol");
  ExpectUsageError("bench cost --protocol all,semaphore", "\"all\" goes with no other");
  ExpectUsageError("bench cost --lease 5", "--lease: \"5\" has no unit");
  ExpectUsageError("bench cost --lease 1ms", "--lease wants");
  ExpectUsageError("bench cost --followers 0", "--followers wants a whole number from 1");
  ExpectUsageError("bench cost --locks 1,,2", "--locks wants a whole number");
  ExpectUsageError("bench cost --preset regionl", "did you mean \"regional\"?");
  ExpectUsageError("bench cost --runs 0", "--runs wants");
  ExpectUsageError("bench cost --json --markdown", "does not go with --markdown");
  ExpectUsageError("bench cost --out x --csv x", "--out and --csv name the same file");
  ExpectUsageError("bench cost --herd 10,5000", "which needs two smaller ones");
  ExpectUsageError("bench cost --protocol spindle_v3 --lease 1s", "spindle_v3 has no lease below");
}

}  // namespace
}  // namespace whorl::bench_cost_test
