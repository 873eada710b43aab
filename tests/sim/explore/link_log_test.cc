// Links of states: a counterexample is no better than these.

#include "sim/explore/engine/link_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
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

// Links in which parents never fall, as in one level of a search.
TEST(LinkLogTest, FindsTheLinksOfAParent) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> parents;
  LinkLog log;
  for (uint64_t parent = 5; parents.size() < 3'000; parent += random() % 3) {
    const size_t successors = random() % 50 == 0 ? 200 : random() % 4;
    for (size_t i = 0; i < successors; ++i) {
      log.Append({parent, i});
      parents.push_back(parent);
    }
  }
  for (const auto& [begin, end] : std::vector<std::pair<uint64_t, uint64_t>>{
           {0, log.size()}, {0, 64}, {63, 65}, {100, 2'000}, {128, 128}, {2'900, log.size()}}) {
    for (uint64_t parent = 0; parent <= parents.back() + 1; ++parent) {
      const auto first =
          std::lower_bound(parents.begin() + static_cast<std::ptrdiff_t>(begin),
                           parents.begin() + static_cast<std::ptrdiff_t>(end), parent);
      ASSERT_EQ(log.FirstNotLess(parent, begin, end),
                static_cast<uint64_t>(first - parents.begin()))
          << parent << " in " << begin << ".." << end;
    }
  }
}

TEST(LinkLogTest, IsVisitedInBothDirections) {
  LinkLog log;
  for (uint64_t i = 0; i < 200; ++i) log.Append({i * i, i});
  for (const uint64_t begin : {0U, 1U, 63U, 64U, 199U, 200U}) {
    uint64_t next = begin;
    log.VisitFrom(begin, [&](uint64_t i, Link link) {
      EXPECT_EQ(i, next++);
      EXPECT_EQ(link.parent(), i * i);
      return true;
    });
    EXPECT_EQ(next, 200U);
  }
  uint64_t left = 200;
  log.VisitBackwards([&](uint64_t i, Link link) {
    EXPECT_EQ(i, --left);
    EXPECT_EQ(link.choice(), i);
  });
  EXPECT_EQ(left, 0U);
}

TEST(LinkLogTest, NeighboursTakeLittleMoreThanTwoBytes) {
  LinkLog log;
  for (uint64_t i = 0; i < 10'000; ++i) log.Append({i / 3, i % 100});
  EXPECT_LT(log.bytes(), 23'000U);
}

}  // namespace
}  // namespace whorl::explore::link_log_test
