// An estimate that is wrong by days is worse than none.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "cli/explore/progress.h"

namespace whorl::cli::explore_time_left_test {
namespace {

using std::chrono::seconds;

// The estimate after a minute in which the frontier went from one size to the other.
std::optional<seconds> After(uint64_t first, uint64_t last, int faults, int length = 60) {
  TimeLeft left(2);
  for (int i = 0; i <= length; ++i) {
    explore::Progress progress;
    progress.faults = faults;
    progress.frontier = first + (last - first) * static_cast<uint64_t>(i) / 60;
    if (last < first) progress.frontier = first - (first - last) * static_cast<uint64_t>(i) / 60;
    left.Add(TimeLeft::Time(seconds(1'000 + i)), progress);
  }
  return left.Left();
}

TEST(TimeLeftTest, IsTheTimeInWhichAShrinkingFrontierEnds) {
  EXPECT_EQ(After(12'000, 6'000, 2), seconds(60));
  EXPECT_EQ(After(60'000, 59'940, 2), seconds(59'940));
}

TEST(TimeLeftTest, IsUnknownWhereNobodyKnows) {
  EXPECT_EQ(After(6'000, 12'000, 2), std::nullopt) << "it grows";
  EXPECT_EQ(After(6'000, 6'000, 2), std::nullopt) << "it stays";
  EXPECT_EQ(After(12'000, 6'000, 1), std::nullopt) << "one more fault is to come";
  EXPECT_EQ(After(12'000, 6'000, 2, 3), std::nullopt) << "three seconds say nothing";
  EXPECT_EQ(After(100'000'000'000, 100'000'000'000 - 60, 2), std::nullopt) << "centuries";
  EXPECT_EQ(TimeLeft(2).Left(), std::nullopt);
}

}  // namespace
}  // namespace whorl::cli::explore_time_left_test
