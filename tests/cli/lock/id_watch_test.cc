// Whose writes a process takes for another's.
#include "cli/lock/id_watch.h"

#include <gtest/gtest.h>

namespace whorl::cli {
namespace {

// A process of lease_lock by the id "me", with a lease of 10 s.
class IdWatchTest : public testing::Test {
 protected:
  // Reads a row that names `holder` until `until` seconds.
  bool Reads(int64_t until, const std::string& holder = "me") {
    const IdWatch::Moment before = watch_.Now(now_);
    return Reads(before, until, holder);
  }
  bool Reads(const IdWatch::Moment& before, int64_t until, const std::string& holder = "me") {
    real_client::Holding holding;
    holding.holder = holder;
    holding.until = Timestamp() + Seconds(until);
    return watch_.Saw(before, holding, now_);
  }
  void Begins(const std::string& step = "heartbeat") { watch_.Began(step, now_); }
  void Ends(bool is_known = true, const std::string& step = "heartbeat") {
    watch_.Ended(step, is_known, now_);
  }

  LocalInstant now_ = LocalInstant() + Seconds(100);
  IdWatch watch_{*FindProtocol("lease_lock"), "me", Seconds(10)};
};

TEST_F(IdWatchTest, AnotherProcessThatRenewsIsNoticedOnce) {
  EXPECT_FALSE(Reads(10));
  EXPECT_FALSE(Reads(10));
  EXPECT_TRUE(Reads(15));
  EXPECT_FALSE(Reads(20));
}

// A process that is not the leader writes nothing, and is still not alone under its id.
TEST_F(IdWatchTest, OwnReadsAreNoWrites) {
  EXPECT_FALSE(Reads(10));
  Begins("look");
  Ends(true, "look");
  EXPECT_TRUE(Reads(15));
}

TEST_F(IdWatchTest, OwnWritesAreNobodyElses) {
  EXPECT_FALSE(Reads(10));
  Begins();
  Ends();
  EXPECT_FALSE(Reads(15));
  EXPECT_FALSE(Reads(15));
  EXPECT_TRUE(Reads(20)) << "and what comes after them is";
}

TEST_F(IdWatchTest, AWriteThatIsUnderWayMayBeSeen) {
  EXPECT_FALSE(Reads(10));
  Begins();
  EXPECT_FALSE(Reads(15));
  EXPECT_FALSE(Reads(20));
  Ends();
  EXPECT_FALSE(Reads(20));
  EXPECT_FALSE(Reads(20));
}

TEST_F(IdWatchTest, AWriteThatBeginsDuringAReadingMayBeSeen) {
  EXPECT_FALSE(Reads(10));
  const IdWatch::Moment before = watch_.Now(now_);
  Begins();
  EXPECT_FALSE(Reads(before, 10)) << "before it was applied";
  Ends();
  EXPECT_FALSE(Reads(15)) << "and after";
}

TEST_F(IdWatchTest, AWriteOfUnknownOutcomeMayComeLater) {
  Begins();
  Ends(/*is_known=*/false);
  EXPECT_FALSE(Reads(10));
  EXPECT_FALSE(Reads(15));
  now_ += Seconds(21);
  EXPECT_FALSE(Reads(20));
  EXPECT_TRUE(Reads(25));
}

TEST_F(IdWatchTest, OtherIdsAndReleasesAreNoneOfIt) {
  EXPECT_FALSE(Reads(10, "you"));
  EXPECT_FALSE(Reads(15, "you"));
  EXPECT_FALSE(Reads(20));
  EXPECT_FALSE(Reads(25, ""));
  EXPECT_FALSE(Reads(30)) << "it may have been given back and taken";
  EXPECT_FALSE(Reads(5)) << "an operator ended the lease";
}

}  // namespace
}  // namespace whorl::cli
