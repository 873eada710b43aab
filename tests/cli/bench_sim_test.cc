// `whorl bench sim`: the shape of what it says. How fast anything is, no test can know.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/cli_testing.h"

namespace whorl::bench_sim_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class CliBenchSimTest : public CliTest {};

TEST_F(CliBenchSimTest, TellsOfFourSizesAndOfAHunt) {
  const Ended ended = Whorl("bench sim --rounds 1 --runs 3 --jobs 1 --out sim.jsonl");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("bytes/node"), HasSubstr("500"),
                               HasSubstr("hunt of fenced_lease: 3 runs of 120 simulated seconds"),
                               HasSubstr("on 1 thread")));
  std::istringstream stream(ReadText(folder_ / "sim.jsonl"));
  std::vector<json> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  ASSERT_EQ(lines.size(), 5);
  for (int i = 0; i < 4; ++i) EXPECT_GT(lines[i]["events"].get<int64_t>(), 1000);
  EXPECT_EQ(lines[0]["nodes"], 3);
  EXPECT_EQ(lines[3]["simulated_seconds"], 600);
  EXPECT_EQ(lines[4]["runs"], 3);
}

TEST_F(CliBenchSimTest, BadUsageNamesTheOption) {
  ExpectUsageError("bench sim --rounds 0", "--rounds wants a whole number from 1");
  ExpectUsageError("bench sim --runs x", "--runs wants");
  ExpectUsageError("bench sim 5", "unexpected argument 5");
}

}  // namespace
}  // namespace whorl::bench_sim_test
