// The machine by itself: events in, effects out, no world. Every rule of row_lease.h wants a test
// like these; what several processes do to each other is for scenarios and for hunting.

#include "row_lease.h"

#include <gtest/gtest.h>

#include "machine_test.h"

namespace row_lease {
namespace {

using whorl::Milliseconds;
using whorl::Seconds;

class RowLeaseTest : public own_protocol::MachineTest<Config, State> {
 protected:
  RowLeaseTest() : MachineTest(MakeConfig("locktable", "lock", "a", Seconds(10))) {}

  // Asks at 0.
  void BecomesLeader() {
    Take({}, whorl::Started{});
    CommitsAt(Milliseconds(12), kClaim, steps::kClaim, Milliseconds(6));
  }
};

TEST_F(RowLeaseTest, BelievesForLessThanALeaseFromWhenItAsked) {
  // `until` counts from the statement, which may be long before the Commit.
  Take({}, whorl::Started{});
  CommitsAt(Seconds(3), kClaim, steps::kClaim, Milliseconds(2'900));
  EXPECT_TRUE(SaysThatItHasTheLock(Seconds(9)));
  EXPECT_FALSE(SaysThatItHasTheLock(Seconds(10)));
}

TEST_F(RowLeaseTest, ARenewalProlongsTheBeliefFromWhenItWasAskedFor) {
  BecomesLeader();
  Take(Seconds(4), whorl::TimerFired{kWake});
  EXPECT_EQ(Sends(), "renew");
  CommitsAt(Seconds(6), kRenewal, steps::kRenew, Seconds(5));
  EXPECT_TRUE(SaysThatItHasTheLock(Seconds(13)));
  EXPECT_FALSE(SaysThatItHasTheLock(Seconds(14)));
}

TEST_F(RowLeaseTest, AnAnswerThatComesTooLateIsNotBelieved) {
  // A pause between request and answer may have outlived the lease.
  Take({}, whorl::Started{});
  CommitsAt(Seconds(11), kClaim, steps::kClaim, Milliseconds(6));
  EXPECT_FALSE(SaysThatItHasTheLock(Seconds(11)));
}

TEST_F(RowLeaseTest, AClaimThatChangesNoRowIsNoLead) {
  // The row is another's, and is claimed again later.
  Take({}, whorl::Started{});
  CommitsAt(Milliseconds(12), kClaim, steps::kClaim, Milliseconds(6), /*rows=*/0);
  EXPECT_FALSE(SaysThatItHasTheLock(Milliseconds(12)));
  Take(Seconds(3), whorl::TimerFired{kWake});
  EXPECT_EQ(Sends(), "claim");
}

TEST_F(RowLeaseTest, ARenewalThatChangesNoRowEndsTheLead) {
  // Nothing but the owner's name in the row says whose it is.
  BecomesLeader();
  Take(Seconds(4), whorl::TimerFired{kWake});
  CommitsAt(Seconds(5), kRenewal, steps::kRenew, Seconds(4), /*rows=*/0);
  EXPECT_FALSE(SaysThatItHasTheLock(Seconds(5)));
}

TEST_F(RowLeaseTest, ARenewalThatComesBackAfterTheLeadBringsNothingBack) {
  // The row may be another's by then.
  BecomesLeader();
  Take(Seconds(9), whorl::TimerFired{kWake});
  Take(Seconds(10), whorl::TimerFired{kDeadline});
  CommitsAt(Seconds(11), kRenewal, steps::kRenew, Seconds(9));
  EXPECT_FALSE(SaysThatItHasTheLock(Seconds(11)));
}

TEST_F(RowLeaseTest, GivesTheRowBackOnceTheWorkHasStopped) {
  // Not before: the next leader would work beside it.
  BecomesLeader();
  Take(Seconds(1), whorl::StopRequested{});
  EXPECT_EQ(Sends(), "");
  EXPECT_FALSE(SaysThatItHasTheLock(Seconds(1)));
  Take(Seconds(2), whorl::WorkStopped{});
  EXPECT_EQ(Sends(), "hand_back");
}

TEST_F(RowLeaseTest, GivesNothingBackWhileWorkOfAnEarlierClaimGoesOn) {
  // Its belief has lapsed and it claims again, but its application needs time to stop.
  BecomesLeader();
  Take(Seconds(10), whorl::TimerFired{kDeadline});
  Take(Seconds(11), whorl::TimerFired{kWake});
  EXPECT_EQ(Sends(), "claim");
  Take(Seconds(12), whorl::StopRequested{});
  CommitsAt(Seconds(13), kClaim, steps::kClaim, Seconds(12));
  EXPECT_EQ(Sends(), "");
  Take(Seconds(14), whorl::WorkStopped{});
  EXPECT_EQ(Sends(), "hand_back");
}

TEST_F(RowLeaseTest, GivesBackWhatARenewalDuringTheStopHasProlonged) {
  // Its own deadline is over by then, but not `until`: others would wait.
  BecomesLeader();
  Take(Seconds(4), whorl::TimerFired{kWake});
  Take(Milliseconds(4'005), whorl::StopRequested{});
  CommitsAt(Milliseconds(4'010), kRenewal, steps::kRenew, Milliseconds(4'006));
  Take(Seconds(10), whorl::TimerFired{kDeadline});
  Take(Seconds(11), whorl::WorkStopped{});
  EXPECT_EQ(Sends(), "hand_back");
}

TEST_F(RowLeaseTest, GivesBackWhatItWinsAfterTheWorkHasStopped) {
  // Others would wait for a lease that nobody uses.
  Take({}, whorl::Started{});
  Take(Seconds(1), whorl::StopRequested{});
  Take(Seconds(1), whorl::WorkStopped{});
  EXPECT_EQ(Sends(), "");  // the claim might come after it
  CommitsAt(Seconds(2), kClaim, steps::kClaim, Seconds(1));
  EXPECT_EQ(Sends(), "hand_back");
}

}  // namespace
}  // namespace row_lease
