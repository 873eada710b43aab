#include "sim/measure/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "sim/world/mix.h"

namespace whorl::sim::statistics_test {
namespace {

// 1, 2, ... count.
std::vector<int64_t> UpTo(int64_t count) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 1);
  return values;
}

// The values of published tables of the sign test.
TEST(RanksOfInterval, AreThoseOfTables) {
  EXPECT_EQ(RanksOfInterval(10, 500), (Ranks{.low = 2, .high = 9}));
  EXPECT_EQ(RanksOfInterval(100, 500), (Ranks{.low = 40, .high = 61}));
  // 1 - 0.99^n has to be 0.975 at least for the greatest value to be above p99.
  EXPECT_EQ(RanksOfInterval(367, 990).high, std::nullopt);
  EXPECT_EQ(RanksOfInterval(368, 990).high, 368);
  EXPECT_EQ(RanksOfInterval(100, 990).low, 97);
  EXPECT_EQ(RanksOfInterval(5, 500), (Ranks{.low = {}, .high = {}}));
  EXPECT_EQ(RanksOfInterval(0, 500), Ranks{});
}

// Weights of far places vanish, and none becomes too great.
TEST(RanksOfInterval, AreSymmetricOfManyValues) {
  const Ranks ranks = RanksOfInterval(1'000'000, 500);
  ASSERT_TRUE(ranks.low && ranks.high);
  EXPECT_EQ(*ranks.low + *ranks.high, 1'000'001);
  EXPECT_NEAR(static_cast<double>(*ranks.low), 500'000 - 980, 3);  // 1.96 standard deviations
}

// Wilson's interval, as tables of it have it.
TEST(Share, HasTheIntervalOfTables) {
  EXPECT_EQ(ShareOf(5, 100), (ShareEstimate{.value = 50'000, .low = 21'544, .high = 111'750}));
  EXPECT_EQ(ShareOf(50, 100), (ShareEstimate{.value = 500'000, .low = 403'832, .high = 596'168}));
  // None and all say something, too, and less the fewer there are.
  EXPECT_EQ(ShareOf(0, 100), (ShareEstimate{.value = 0, .low = 0, .high = 36'993}));
  EXPECT_EQ(ShareOf(100, 100),
            (ShareEstimate{.value = 1'000'000, .low = 963'007, .high = 1'000'000}));
  EXPECT_EQ(ShareOf(0, 1).high, 793'451);
  EXPECT_EQ(ShareOf(0, 0), ShareEstimate{});
}

TEST(Distribution, HasTheLeastValueThatAShareDoesNotExceed) {
  std::vector<int64_t> values = UpTo(1000);
  std::ranges::reverse(values);
  const Distribution all = DistributionOf(values, 0);
  EXPECT_EQ(all.count, 1000);
  EXPECT_EQ(all.p50.value, 500);
  EXPECT_EQ(all.p90.value, 900);
  EXPECT_EQ(all.p99.value, 990);
  EXPECT_EQ(all.max, 1000);
  EXPECT_EQ(all.mean, 500);
  EXPECT_EQ(all.p50.low, 469);
  EXPECT_EQ(all.p50.high, 532);
  ASSERT_EQ(all.percentiles.size(), 101U);
  EXPECT_EQ(all.percentiles[0], 1);
  EXPECT_EQ(all.percentiles[25], 250);
  EXPECT_EQ(all.percentiles[100], 1000);
}

// A takeover that never ended counts as longer than all others.
TEST(Distribution, MissingValuesAreGreaterThanAllOthers) {
  const Distribution most = DistributionOf(UpTo(60), 40);
  EXPECT_EQ(most.p50.value, 50);
  EXPECT_EQ(most.p50.low, 40);
  EXPECT_EQ(most.p50.high, std::nullopt);
  EXPECT_EQ(most.p90.value, std::nullopt);
  EXPECT_EQ(most.max, std::nullopt);
  EXPECT_EQ(most.mean, std::nullopt);
  EXPECT_EQ(DistributionOf({}, 3).p50.value, std::nullopt);
  EXPECT_EQ(DistributionOf({}, 0), Distribution{});
  EXPECT_EQ(DistributionOf({7}, 0).p99.value, 7);
}

TEST(Distribution, TellsWhetherItsIntervalIsNarrow) {
  const QuantileEstimate estimate{.value = 1000, .low = 981, .high = 1020};
  EXPECT_TRUE(estimate.IsWithin(2));
  EXPECT_FALSE(estimate.IsWithin(1));
  EXPECT_FALSE((QuantileEstimate{.value = 1000, .low = 979, .high = 1000}).IsWithin(2));
  EXPECT_FALSE((QuantileEstimate{.value = 1000, .low = 1000, .high = {}}).IsWithin(2));
  EXPECT_FALSE(QuantileEstimate{}.IsWithin(2));
}

// The quantiles of uniform values are known, so the test can count how often an interval holds
// them.
TEST(Distribution, IntervalsHoldTheTruthAsOftenAsTheySay) {
  constexpr int64_t kRange = 1'000'000'000;
  constexpr int kRepetitions = 400;
  int held = 0;
  for (uint64_t repetition = 0; repetition < kRepetitions; ++repetition) {
    std::vector<int64_t> values;
    for (uint64_t i = 0; i < 300; ++i) {
      values.push_back(Between(Combine(repetition, i), 1, kRange));
    }
    const QuantileEstimate p90 = DistributionOf(values, 0).p90;
    held += *p90.low <= kRange / 10 * 9 && kRange / 10 * 9 <= *p90.high ? 1 : 0;
  }
  EXPECT_GE(held, kRepetitions * 93 / 100);
  EXPECT_LE(held, kRepetitions * 99 / 100);
}

// Values that can be computed by hand.
TEST(SignTest, IsTwiceTheSmallerTailOfFairCoins) {
  EXPECT_DOUBLE_EQ(SignTest(0, 0), 1);
  EXPECT_DOUBLE_EQ(SignTest(5, 5), 1);
  EXPECT_DOUBLE_EQ(SignTest(10, 0), 2.0 / 1024);
  EXPECT_DOUBLE_EQ(SignTest(8, 2), 2.0 * (1 + 10 + 45) / 1024);
  EXPECT_DOUBLE_EQ(SignTest(2, 8), SignTest(8, 2));
}

// A count that is far from chance must not come back as 1, or as no number.
TEST(SignTest, IsSmallForCountsThatADoubleCannotTell) {
  EXPECT_LT(SignTest(3'000, 100), 1e-300);
  EXPECT_GE(SignTest(3'000, 100), 0);
  EXPECT_NEAR(SignTest(50'000, 50'000), 1, 1e-9);
  EXPECT_LT(SignTest(51'000, 49'000), 1e-9);
}

TEST(FisherTest, IsTwiceTheSmallerTailOfAllChoices) {
  EXPECT_DOUBLE_EQ(FisherTest(0, 5, 5, 5), 2.0 / 252);
  EXPECT_NEAR(FisherTest(3, 4, 1, 4), 2 * 17.0 / 70, 1e-12);  // the lady who tastes tea
  EXPECT_DOUBLE_EQ(FisherTest(4, 8, 4, 8), 1);
  EXPECT_DOUBLE_EQ(FisherTest(0, 7, 0, 9), 1);
  EXPECT_DOUBLE_EQ(FisherTest(7, 7, 9, 9), 1);
  EXPECT_DOUBLE_EQ(FisherTest(0, 0, 3, 9), 1);
  EXPECT_NEAR(FisherTest(1, 9, 11, 12), FisherTest(11, 12, 1, 9), 1e-12);
  EXPECT_LT(FisherTest(1'000, 5'000, 2'000, 5'000), 1e-90);
}

TEST(BeyondChance, HoldsEachOfManyTestsToAShareOfTheWhole) {
  using Beyond = std::vector<bool>;
  EXPECT_EQ(BeyondChance({}, 0.05), Beyond{});
  EXPECT_EQ(BeyondChance({0.03, 0.01, 0.04}, 0.05), (Beyond{false, true, false}));
  EXPECT_EQ(BeyondChance({0.02, 0.01, 0.04}, 0.05), (Beyond{true, true, true}));
  EXPECT_EQ(BeyondChance({0.02, 0.02, 0.02}, 0.05), (Beyond{false, false, false}));
}

}  // namespace
}  // namespace whorl::sim::statistics_test
