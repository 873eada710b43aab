// The visited set: a fault in it hides states, or visits them twice.

#include "sim/explore/engine/fingerprint_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "sim/explore/engine/key.h"

namespace whorl::explore::fingerprint_set_test {
namespace {

constexpr uint64_t kGreatest = ~uint64_t{0};

FingerprintSet::Place PlaceOf(uint64_t high, uint64_t low) {
  return FingerprintSet::PlaceOf({.high = high, .low = low});
}

// Words that crowd one place or the ends make long runs, and runs that end at the end of the table.
uint64_t DrawWord(std::mt19937_64& random) {
  switch (random() % 4) {
    case 0:
      return random();
    case 1:
      return random() % 1000;
    case 2:
      return kGreatest - 1 - random() % 1000;
    default:
      return (uint64_t{1} << 63) + random() % 1000;
  }
}

TEST(FingerprintSetTest, HasWhatWasInsertedAndNothingElse) {
  std::mt19937_64 random(1);
  FingerprintSet set;
  std::set<std::pair<uint64_t, uint64_t>> expected;
  for (int i = 0; i < 60'000; ++i) {
    const uint64_t shard = random() % 3 * 5;
    const uint64_t word = DrawWord(random);
    const FingerprintSet::Place place = PlaceOf(shard << 60 | random() >> 4, word);
    ASSERT_EQ(set.Contains(place), expected.contains({shard, word}));
    ASSERT_EQ(set.Insert(place), expected.emplace(shard, word).second);
  }
  EXPECT_EQ(set.size(), expected.size());
  for (const auto& [shard, word] : expected) ASSERT_TRUE(set.Contains(PlaceOf(shard << 60, word)));
}

// The set distinguishes states by 68 bits, and stores 64 of them.
TEST(FingerprintSetTest, TellsKeysApartByTheTopBitsToo) {
  FingerprintSet set;
  for (uint64_t shard = 0; shard < FingerprintSet::kShards; ++shard) {
    EXPECT_TRUE(set.Insert(PlaceOf(shard << 60, 12345)));
    EXPECT_FALSE(set.Insert(PlaceOf(shard << 60, 12345)));
  }
}

// The greatest word marks empty places.
TEST(FingerprintSetTest, TakesEveryWord) {
  FingerprintSet set;
  for (const uint64_t word : {kGreatest, uint64_t{0}, uint64_t{1}, kGreatest - 2}) {
    EXPECT_FALSE(set.Contains(PlaceOf(0, word))) << word;
    EXPECT_TRUE(set.Insert(PlaceOf(0, word))) << word;
    EXPECT_TRUE(set.Contains(PlaceOf(0, word))) << word;
  }
}

// Of a table that doubles, this is the average, and the worst is twice as much.
TEST(FingerprintSetTest, BytesForEachStateStayTheSame) {
  FingerprintSet set;
  for (uint64_t i = 1; i <= 600'000; ++i) {
    set.Insert(FingerprintSet::PlaceOf(KeyOf(i, 0)));
    if (i < 100'000 || i % 10'000 != 0) continue;
    const double bytes = static_cast<double>(set.bytes()) / static_cast<double>(i);
    ASSERT_LT(bytes, 13) << i;
    ASSERT_GT(bytes, 10) << i;
  }
}

TEST(FingerprintSetTest, ExpectedOmissionsAreThoseOfSixtyEightBits) {
  EXPECT_EQ(FingerprintSet::ExpectedOmissions(0), 0);
  EXPECT_EQ(FingerprintSet::ExpectedOmissions(1), 0);
  EXPECT_NEAR(FingerprintSet::ExpectedOmissions(50'000'000), 4.235e-6, 1e-8);
}

// What was saved by ForEach and is set again is the same set, as large as before, and grows on.
TEST(FingerprintSetTest, ShardsCanBeSavedAndSet) {
  std::mt19937_64 random(7);
  for (const int count : {0, 1, 50, 2'000, 30'000}) {
    FingerprintSet saved;
    for (int i = 0; i < count; ++i) saved.Insert(PlaceOf(random(), DrawWord(random)));
    std::map<uint32_t, std::vector<uint64_t>> shards;
    saved.ForEach(
        [&](const FingerprintSet::Place& place) { shards[place.shard].push_back(place.word); });
    FingerprintSet set;
    for (const auto& [shard, words] : shards) {
      ASSERT_TRUE(std::ranges::is_sorted(words));
      set.SetShard(shard, words);
    }
    EXPECT_EQ(set.size(), saved.size());
    for (const auto& [shard, words] : shards) {
      for (const uint64_t word : words) {
        ASSERT_TRUE(set.Contains({.word = word, .shard = shard}));
        ASSERT_FALSE(set.Insert({.word = word, .shard = shard}));
      }
    }
    for (int i = 0; i < 1'000; ++i) {
      const FingerprintSet::Place place = PlaceOf(random(), DrawWord(random));
      ASSERT_EQ(set.Insert(place), saved.Insert(place));
    }
    EXPECT_EQ(set.size(), saved.size());
  }
}

}  // namespace
}  // namespace whorl::explore::fingerprint_set_test
