// --shard auto: the part of a hunt that an engine's environment names, or a refusal; never the whole
// for want of a variable.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "cli/shards/option.h"

namespace whorl::cli {
namespace {

using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

absl::StatusOr<EngineShard> Of(const Variables& variables, std::optional<uint64_t> count = {}) {
  return ShardOfEngine(
      [&variables](const std::string& name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::string() : found->second;
      },
      count);
}

// "3/8", counted from 1 as --shard does; or the error.
std::string Text(const Variables& variables, std::optional<uint64_t> count = {}) {
  const absl::StatusOr<EngineShard> found = Of(variables, count);
  if (!found.ok()) return std::string(found.status().message());
  return std::to_string(found->shard + 1) + "/" + std::to_string(found->shards);
}

struct Family {
  std::string index;
  std::string count;
  uint64_t first = 0;
};

const std::vector<Family>& Families() {
  static const std::vector<Family> families = {
      {"AWS_BATCH_JOB_ARRAY_INDEX", "AWS_BATCH_JOB_ARRAY_SIZE"},
      {"CLOUD_RUN_TASK_INDEX", "CLOUD_RUN_TASK_COUNT"},
      {"BATCH_TASK_INDEX", "BATCH_TASK_COUNT"},
      {"TEST_SHARD_INDEX", "TEST_TOTAL_SHARDS"},
      {"CI_NODE_INDEX", "CI_NODE_TOTAL", 1},
  };
  return families;
}

TEST(EngineShard, EachEngineNamesEachShard) {
  for (const Family& family : Families()) {
    for (uint64_t shard = 0; shard < 5; ++shard) {
      const std::string index = std::to_string(shard + family.first);
      const Variables variables = {{family.index, index}, {family.count, "5"}};
      const absl::StatusOr<EngineShard> found = Of(variables);
      ASSERT_TRUE(found.ok()) << found.status();
      EXPECT_EQ(found->shard, shard) << family.index;
      EXPECT_EQ(found->shards, 5) << family.index;
      EXPECT_THAT(found->source, HasSubstr(family.index + "=" + index));
      EXPECT_EQ(Text(variables, 5), std::to_string(shard + 1) + "/5");
      EXPECT_THAT(Text(variables, 6), HasSubstr(family.count + " says 5 shards"));
    }
  }
}

TEST(EngineShard, ValuesThatAreNoShardAreRefused) {
  for (const Family& family : Families()) {
    const uint64_t end = 5 + family.first;
    for (const std::string& index : {std::to_string(end), std::string("-1"), std::string("x"),
                                     std::string("1x"), std::string("99999999999999999999")}) {
      EXPECT_THAT(Text({{family.index, index}, {family.count, "5"}}),
                  HasSubstr(family.index + " is to be a number from"));
    }
    for (const std::string count : {"0", "-3", "many", "1000001"}) {
      EXPECT_THAT(Text({{family.index, "1"}, {family.count, count}}),
                  HasSubstr(family.count + " is to be a number from 1 to 1000000"));
    }
    EXPECT_THAT(Text({{family.index, "1"}}), HasSubstr("give --shard auto/N"));
    EXPECT_THAT(Text({{family.count, "5"}}), HasSubstr(family.index + " is not"));
  }
  EXPECT_THAT(Text({{"CI_NODE_INDEX", "0"}, {"CI_NODE_TOTAL", "5"}}), HasSubstr("from 1 to 5"));
}

TEST(EngineShard, KubernetesHasToBeToldHowManyThereAre) {
  EXPECT_THAT(Text({{"JOB_COMPLETION_INDEX", "3"}}), HasSubstr("give --shard auto/N"));
  EXPECT_EQ(Text({{"JOB_COMPLETION_INDEX", "3"}}, 8), "4/8");
  EXPECT_THAT(Text({{"JOB_COMPLETION_INDEX", "8"}}, 8), HasSubstr("from 0 to 7"));
}

Variables Slurm(const std::string& task, const std::string& min, const std::string& max,
                const std::string& count) {
  return {{"SLURM_ARRAY_TASK_ID", task},
          {"SLURM_ARRAY_TASK_MIN", min},
          {"SLURM_ARRAY_TASK_MAX", max},
          {"SLURM_ARRAY_TASK_COUNT", count}};
}

TEST(EngineShard, SlurmsArraysBeginAtZeroOrOne) {
  EXPECT_EQ(Text(Slurm("0", "0", "7", "8")), "1/8");
  EXPECT_EQ(Text(Slurm("7", "0", "7", "8")), "8/8");
  EXPECT_EQ(Text(Slurm("1", "1", "8", "8")), "1/8");
  EXPECT_EQ(Text(Slurm("8", "1", "8", "8")), "8/8");
}

// Tasks of an array that are run again are an array of their own, which must not be taken for a hunt.
TEST(EngineShard, APartOfAnArrayOfSlurmIsNotTakenForTheWhole) {
  EXPECT_THAT(Text(Slurm("0", "0", "0", "1")), HasSubstr("would be the whole hunt"));
  EXPECT_THAT(Text(Slurm("3", "3", "3", "1")), HasSubstr("give --shard auto/N"));
  EXPECT_THAT(Text(Slurm("3", "3", "5", "3")), HasSubstr("neither 0 nor 1"));
  EXPECT_THAT(Text(Slurm("1", "1", "5", "3")), HasSubstr("have gaps"));
  EXPECT_THAT(Text(Slurm("4", "0", "6", "4")), HasSubstr("have gaps"));  // a step of two
  EXPECT_EQ(Text(Slurm("3", "3", "5", "3"), 8), "4/8");
  EXPECT_EQ(Text(Slurm("0", "0", "0", "1"), 8), "1/8");
  EXPECT_THAT(Text(Slurm("8", "1", "8", "8"), 8), HasSubstr("from 0 to 7"));
}

TEST(EngineShard, NoEngineAndTwoEnginesAreRefused) {
  EXPECT_THAT(Text({}), HasSubstr("none of these is set: JOB_COMPLETION_INDEX (Kubernetes)"));
  EXPECT_THAT(Text({}, 8), HasSubstr("give --shard I/N"));
  EXPECT_THAT(Text({{"JOB_COMPLETION_INDEX", "3"}, {"CI_NODE_INDEX", "1"}, {"CI_NODE_TOTAL", "2"}}),
              HasSubstr("JOB_COMPLETION_INDEX of Kubernetes and CI_NODE_INDEX of GitLab"));
  EXPECT_THAT(Text({{"JOB_COMPLETION_INDEX", "3"}, {"BATCH_TASK_INDEX", "3"}}, 8),
              HasSubstr("both set"));
}

}  // namespace
}  // namespace whorl::cli
