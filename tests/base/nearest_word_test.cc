#include "base/nearest_word.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace whorl::nearest_word_test {
namespace {

using std::string_view_literals::operator""sv;

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  // Each of these is one slip of a finger, so that each costs one.
  EXPECT_EQ(EditDistance("pause", "pause"), 0U);
  EXPECT_EQ(EditDistance("pase", "pause"), 1U);
  EXPECT_EQ(EditDistance("paause", "pause"), 1U);
  EXPECT_EQ(EditDistance("pauze", "pause"), 1U);
  EXPECT_EQ(EditDistance("pasue", "pause"), 1U);
  EXPECT_EQ(EditDistance("", "pause"), 5U);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
}

TEST(EditDistance, IsTheSameBothWays) {
  for (const auto& [a, b] : {std::pair("crash"sv, "cahsr"sv), {"ab"sv, "ba"sv}, {"x"sv, ""sv}}) {
    EXPECT_EQ(EditDistance(a, b), EditDistance(b, a)) << a << " " << b;
  }
}

TEST(EditDistance, DoesNotCompareHugeWordsLetterByLetter) {
  // A key of a megabyte in a bad file must not cost a megabyte squared.
  const std::string huge(1 << 20, 'x');
  EXPECT_EQ(EditDistance(huge, huge), 0U);
  EXPECT_EQ(EditDistance(huge, "x"), huge.size());
}

TEST(NearestWord, IsTheOneWithTheFewestSlips) {
  constexpr std::array kSteps = {"heartbeat_update"sv, "heartbeat_delete"sv, "takeover_update"sv};
  EXPECT_EQ(NearestWord("hearbeat_delete", kSteps), "heartbeat_delete");
  EXPECT_EQ(NearestWord("Heartbeat-Update", kSteps), "heartbeat_update");
  EXPECT_EQ(NearestWord("takover_updat", kSteps), "takeover_update");
}

TEST(NearestWord, IsTheFirstOfThoseThatAreEquallyNear) {
  // Messages are compared byte for byte, so the choice has to be settled.
  constexpr std::array kNodes = {"pod-1"sv, "pod-2"sv};
  EXPECT_EQ(NearestWord("pod-3", kNodes), "pod-1");
}

TEST(NearestWord, IsNothingWhenNothingIsNear) {
  // A far-fetched suggestion sends people the wrong way.
  constexpr std::array kNodes = {"a"sv, "b"sv, "leader"sv};
  EXPECT_EQ(NearestWord("x", kNodes), std::nullopt);
  EXPECT_EQ(NearestWord("follower", kNodes), std::nullopt);
  EXPECT_EQ(NearestWord("", kNodes), std::nullopt);
  EXPECT_EQ(NearestWord("a", {}), std::nullopt);
}

TEST(NearestWord, ForgivesOneSlipInAShortWord) {
  constexpr std::array kNodes = {"a"sv, "b"sv};
  EXPECT_EQ(NearestWord("bb", kNodes), "b");
}

TEST(DidYouMean, IsAClauseOrNothing) {
  constexpr std::array kNodes = {"a"sv, "b"sv};
  EXPECT_EQ(DidYouMean("bb", kNodes), "; did you mean \"b\"?");
  EXPECT_EQ(DidYouMean("zz", kNodes), "");
}

}  // namespace
}  // namespace whorl::nearest_word_test
