// How a level follows what Spanner answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "real_client/bounded_client.h"

namespace whorl::real_client::concurrency_level_test {
namespace {

TransactionResult Committed() { return {.outcome = Outcome::kCommitted, .attempts = 1}; }
TransactionResult Failed(Code code) {
  return {.outcome = Outcome::kAborted, .status = Error(code, ""), .attempts = 1};
}

class ConcurrencyLevelTest : public testing::Test {
 protected:
  // `count` transactions end, a millisecond apart.
  void End(int count, const TransactionResult& result, Duration took = Milliseconds(10),
           bool others_wait = true) {
    for (int i = 0; i < count; ++i) {
      now_ += Milliseconds(1);
      level_.OnEnded(now_, took, result, others_wait);
    }
  }

  LocalInstant now_;
  ConcurrencyLevel level_{50};
};

TEST_F(ConcurrencyLevelTest, RisesAsLongAsOthersWaitUpToTheMost) {
  EXPECT_EQ(level_.limit(), 4);
  End(1000, Committed(), Milliseconds(10), /*others_wait=*/false);
  EXPECT_EQ(level_.limit(), 4);
  End(100, Committed());
  EXPECT_EQ(level_.limit(), 6);
  End(100'000, Committed());
  EXPECT_EQ(level_.limit(), 50);
}

TEST_F(ConcurrencyLevelTest, NeverExceedsAMostBelowItsStart) {
  ConcurrencyLevel level(2);
  EXPECT_EQ(level.limit(), 2);
}

TEST_F(ConcurrencyLevelTest, EachKindOfRefusalHalvesIt) {
  TransactionResult again = Committed();
  again.attempts = 2;
  for (const TransactionResult& refusal :
       {Failed(Code::kAborted), Failed(Code::kResourceExhausted), Failed(Code::kUnavailable),
        Failed(Code::kDeadlineExceeded), again}) {
    ConcurrencyLevel level(50);
    level.OnEnded(LocalInstant{} + Seconds(1), Milliseconds(10), refusal, true);
    EXPECT_EQ(level.limit(), 2) << FormatStatus(refusal.status);
  }
}

TEST_F(ConcurrencyLevelTest, AnswersAboutTheLockAndCancellationsDoNot) {
  End(10, Failed(Code::kAlreadyExists));
  End(10, Failed(Code::kCancelled));
  EXPECT_EQ(level_.limit(), 4);
}

// Of the transactions under way when it falls, all may be refused.
TEST_F(ConcurrencyLevelTest, FallsOnceForWhatWasSentTogetherAndNeverBelowOne) {
  End(100'000, Committed());
  End(9, Failed(Code::kAborted));
  EXPECT_EQ(level_.limit(), 25);
  End(1000, Failed(Code::kAborted));
  EXPECT_EQ(level_.limit(), 1);
}

TEST_F(ConcurrencyLevelTest, FallsWhenAllBecomeSlow) {
  End(1000, Committed());
  const int32_t before = level_.limit();
  End(10, Committed(), Milliseconds(45));
  EXPECT_GE(level_.limit(), before);
  End(1000, Committed(), Milliseconds(80));
  EXPECT_LT(level_.limit(), before / 2);
}

// A Spanner that is farther away for good, say after its leader moved, is no overloaded one.
TEST_F(ConcurrencyLevelTest, GetsUsedToASlowerSpanner) {
  End(1000, Committed());
  End(62'000, Committed(), Milliseconds(80));
  const int32_t before = level_.limit();
  End(30'000, Committed(), Milliseconds(80));
  EXPECT_GT(level_.limit(), before);
}

// --- with a Spanner -----------------------------------------------------------------------------

// Serves `capacity` transactions at a time in 5 ms each. If it refuses, any further one is ABORTED
// once and takes 20 ms more; otherwise it waits for its turn. Returns the commits in a minute, when
// a thousand always wait.
int CommitsInAMinute(int capacity, bool refuses, std::vector<int32_t>& levels) {
  ConcurrencyLevel level(100);
  struct Sent {
    LocalInstant at;
    uint16_t attempts = 1;
  };
  std::multimap<LocalInstant, Sent> under_way;  // by their ends
  LocalInstant now;
  int commits = 0;
  while (now < LocalInstant{} + Seconds(60)) {
    while (static_cast<int>(under_way.size()) < level.limit()) {
      const int before_it = static_cast<int>(under_way.size());
      const bool aborted = refuses && before_it >= capacity;
      const int64_t turns = refuses ? 1 : 1 + before_it / capacity;
      const LocalInstant end =
          now + Milliseconds(5) * turns + (aborted ? Milliseconds(20) : Duration());
      under_way.emplace(end, Sent{now, static_cast<uint16_t>(aborted ? 2 : 1)});
    }
    const auto [end, sent] = *under_way.begin();
    under_way.erase(under_way.begin());
    now = end;
    ++commits;
    level.OnEnded(now, now - sent.at, {.outcome = Outcome::kCommitted, .attempts = sent.attempts},
                  true);
    levels.push_back(level.limit());
  }
  return commits;
}

TEST(ConcurrencyLevelWithSpanner, OfOneTransactionAtATimeStaysAtOneOrTwo) {
  std::vector<int32_t> levels;
  EXPECT_GE(CommitsInAMinute(1, /*refuses=*/true, levels), 60 * 200 * 7 / 10);
  const auto above =
      std::count_if(levels.begin() + 100, levels.end(), [](int32_t l) { return l > 2; });
  EXPECT_EQ(above, 0);
}

TEST(ConcurrencyLevelWithSpanner, OfTwentyAtATimeUsesThem) {
  for (const bool refuses : {true, false}) {
    std::vector<int32_t> levels;
    EXPECT_GE(CommitsInAMinute(20, refuses, levels), 60 * 200 * 20 * 7 / 10) << refuses;
  }
}

}  // namespace
}  // namespace whorl::real_client::concurrency_level_test
