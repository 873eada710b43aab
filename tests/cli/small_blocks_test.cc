// The operator new of the command, which is linked into these tests.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <new>
#include <vector>

namespace {

TEST(SmallBlocks, ADroppedBlockServesTheNextOfItsSize) {
  void* const block = ::operator new(40);
  ::operator delete(block, size_t{40});
  void* const next = ::operator new(48);
  EXPECT_EQ(next, block);
  ::operator delete(next, size_t{48});
}

TEST(SmallBlocks, ABlockOfAnySizeIsOfThatSizeAndMayBeDroppedWithoutIt) {
  for (size_t size = 0; size < 2000; ++size) {
    // The second takes the place of the first, if that was kept.
    for (const bool sized : {true, false}) {
      void* const block = ::operator new(size);
      std::memset(block, 1, size);
      sized ? ::operator delete(block, size) : ::operator delete(block);
    }
  }
}

TEST(SmallBlocks, BlocksInUseAreApartHoweverManyWereDropped) {
  constexpr size_t kSize = 64;
  constexpr size_t kMany = 1000;  // more than are kept
  std::vector<unsigned char*> blocks(kMany);
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < kMany; ++i) {
      blocks[i] = static_cast<unsigned char*>(::operator new(kSize));
      std::memset(blocks[i], static_cast<int>(i % 256), kSize);
    }
    for (size_t i = 0; i < kMany; ++i) {
      EXPECT_EQ(blocks[i][0], i % 256);
      EXPECT_EQ(blocks[i][kSize - 1], i % 256);
      ::operator delete(blocks[i], kSize);
    }
  }
}

}  // namespace
