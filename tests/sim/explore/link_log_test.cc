// Links of states: a counterexample is no better than these.

#include "sim/explore/engine/link_log.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace whorl::explore::link_log_test {
namespace {

TEST(LinkLogTest, GivesBackWhatWasAppended) {
  std::mt19937_64 random(1);
  std::vector<Link> links;
  LinkLog log;
  for (uint64_t i = 0; i < 10'000; ++i) {
    const bool is_far = random() % 10 == 0;
    const uint64_t parent = is_far ? random() % Link::kStates : i - random() % (i + 1);
    links.emplace_back(parent, is_far ? random() % Link::kChoices : random() % 200);
    log.Append(links.back());
  }
  links.emplace_back(Link::kStates - 1, Link::kChoices - 1);
  log.Append(links.back());
  ASSERT_EQ(log.size(), links.size());
  for (uint64_t i = 0; i < links.size(); ++i) {
    ASSERT_EQ(log[i].parent(), links[i].parent()) << i;
    ASSERT_EQ(log[i].choice(), links[i].choice()) << i;
  }
}

TEST(LinkLogTest, NeighboursTakeLittleMoreThanTwoBytes) {
  LinkLog log;
  for (uint64_t i = 0; i < 10'000; ++i) log.Append({i / 3, i % 100});
  EXPECT_LT(log.bytes(), 23'000U);
}

}  // namespace
}  // namespace whorl::explore::link_log_test
