// Thousands of damaged checkpoints, the same ones every time. tests/fuzz/ is for longer campaigns.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "tests/sim/explore/any_checkpoint.h"
#include "tests/support/fewer.h"

namespace whorl::explore::checkpoint_mutations_test {
namespace {

void ExpectRefusedOrGoneOnWith(const std::string& whole) {
  ASSERT_TRUE(GoOnFromAny(whole));
  std::mt19937 random(1);
  constexpr int kMany = static_cast<int>(Fewer(20'000));
  int refused = 0;
  int gone_on = 0;
  for (int i = 0; i < kMany; ++i) {
    std::string edits(3 + 3 * (1 + random() % 3), '\0');
    for (char& edit : edits) edit = static_cast<char>(random());
    // Most numbers in a checkpoint are small.
    if (i % 2 == 0) edits[5] = static_cast<char>(random() % 8);
    edits[2] = static_cast<char>(i % 32 == 0 ? 0 : 1);
    ++(GoOnFromAny(EditedCheckpoint(whole, edits)) ? gone_on : refused);
  }
  EXPECT_GT(refused, kMany / 4);
  EXPECT_GT(gone_on, kMany / 200);
}

TEST(CheckpointMutationsTest, WhateverTheBytesAreTheyAreRefusedOrGoneOnWith) {
  ExpectRefusedOrGoneOnWith(WholeCheckpoint());
}
TEST(CheckpointMutationsTest, SoAreThoseOfASearchForALasso) {
  ExpectRefusedOrGoneOnWith(WholeLassoCheckpoint());
}

}  // namespace
}  // namespace whorl::explore::checkpoint_mutations_test
