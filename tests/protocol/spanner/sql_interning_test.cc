// Interning from several threads at once: a batch makes its configurations on its own threads.
#include <gtest/gtest.h>

#include <barrier>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "protocol/spanner/sql.h"

namespace whorl::sql_interning_test {
namespace {

constexpr int kThreads = 8;
constexpr int kTexts = 200;

std::string TextOf(int i) { return "SELECT threads " + std::to_string(i); }

// Every thread interns all texts, each beginning elsewhere, so that each text is contended.
std::vector<Sql> InternAll(int from) {
  std::vector<Sql> handles(kTexts);
  for (int i = 0; i < kTexts; ++i) {
    const int which = (from + i) % kTexts;
    handles[static_cast<size_t>(which)] =
        Sql::Intern(TextOf(which), {{.name = "name", .type = Type::kString}});
  }
  return handles;
}

TEST(SqlInterningThreadsTest, AllThreadsGetTheSameHandleOfAText) {
  // Handles of one text made by two workers have to be equal, or the same run would differ by the
  // worker that ran it.
  std::vector<std::vector<Sql>> handles(kThreads);
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      start.arrive_and_wait();
      handles[static_cast<size_t>(thread)] = InternAll(thread * kTexts / kThreads);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<Sql>& others : handles) EXPECT_EQ(others, handles.front());
}

TEST(SqlInterningThreadsTest, AHandleStaysGoodWhileOtherTextsAreAdded) {
  // Readers take no lock: a text must never move once a handle to it exists.
  const Sql held = Sql::Intern("SELECT held");
  const std::string* const text = &held.text();
  std::thread adder([] { InternAll(0); });
  for (int i = 0; i < 1'000; ++i) ASSERT_EQ(held.text(), "SELECT held");
  adder.join();
  EXPECT_EQ(&held.text(), text);
}

TEST(SqlInterningThreadsTest, EveryTextHasItsOwnIndex) {
  // The index finds a plan in an array; shared by two texts it would run the wrong one.
  std::set<uint32_t> indexes;
  for (const Sql sql : InternAll(0)) indexes.insert(sql.index());
  EXPECT_EQ(indexes.size(), static_cast<size_t>(kTexts));
}

}  // namespace
}  // namespace whorl::sql_interning_test
