// When a lease is said to be too short.
#include "cli/lock/latency_hint.h"

#include <gtest/gtest.h>

namespace whorl::cli {
namespace {

TEST(LatencyHintTest, NamesBothNumbersWhenATransactionTakesAQuarterOfTheLease) {
  LatencyHint hint;
  EXPECT_EQ(hint.OfLease(Seconds(1)), "") << "nothing is known";
  hint.Heard("read", Milliseconds(200));
  hint.Heard("beat", Milliseconds(250));
  EXPECT_EQ(hint.OfLease(Seconds(1)),
            "; the lease of 1s is too short for this latency: beat took 0.250 s");
  EXPECT_EQ(hint.OfLease(Milliseconds(1004)), "");
}

// A transaction may have waited for a lock, or for an attempt before it.
TEST(LatencyHintTest, OfEachStepTheQuickestCounts) {
  LatencyHint hint;
  hint.Heard("beat", Seconds(5));
  EXPECT_NE(hint.OfLease(Seconds(1)), "");
  hint.Heard("beat", Milliseconds(10));
  EXPECT_EQ(hint.OfLease(Seconds(1)), "");
}

// It makes connections, too; but where nothing else is answered within a lease, it is what is known.
TEST(LatencyHintTest, AReadBeforeTheLockIsTakenCountsIfNothingElseIsKnown) {
  LatencyHint hint;
  hint.HeardFirst(Milliseconds(1200));
  EXPECT_EQ(hint.OfLease(Seconds(1)),
            "; the lease of 1s is too short for this latency: a read took 1.200 s");
  EXPECT_EQ(hint.OfLease(Seconds(2)), "");
  hint.Heard("read", Milliseconds(10));
  EXPECT_EQ(hint.OfLease(Seconds(1)), "");
}

}  // namespace
}  // namespace whorl::cli
