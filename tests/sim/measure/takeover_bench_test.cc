// The figures of a takeover bench do not depend on how many threads measure them.

#include "sim/measure/takeover_bench.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace whorl::sim::takeover_bench_test {
namespace {

TakeoverResult Measured(const TakeoverOptions& options, int threads) {
  TakeoverResult result;
  const absl::Status status = MeasureCase(
      options, {.protocol = "fenced_lease", .lease = Seconds(1)}, threads,
      [](uint64_t) { return BatchStep::kGoOn; }, result);
  EXPECT_TRUE(status.ok()) << status.message();
  return result;
}

TEST(TakeoverBenchThreads, FiguresAreTheSame) {
  const TakeoverOptions options{.seed = 5, .runs = 60};
  const TakeoverResult one = Measured(options, 1);
  EXPECT_EQ(one.runs, 60U);
  EXPECT_EQ(one.first_write.count, 60);
  EXPECT_EQ(Measured(options, 1), one);
  EXPECT_EQ(Measured(options, 3), one);
  EXPECT_FALSE(Measured({.seed = 6, .runs = 60}, 1) == one);
}

TEST(TakeoverBenchThreads, WhatIsBrokenOffHasWhatThereIs) {
  TakeoverResult result;
  const absl::Status status = MeasureCase(
      {.seed = 5, .runs = 60}, {.protocol = "fenced_lease", .lease = Seconds(1)}, 2,
      [](uint64_t runs) { return runs < 20 ? BatchStep::kGoOn : BatchStep::kStop; }, result);
  EXPECT_TRUE(status.ok());
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.runs, 20U);
  EXPECT_EQ(result.first_write.count, 20);
}

}  // namespace
}  // namespace whorl::sim::takeover_bench_test
