// The machine by itself: events in, effects out, no world. Every rule of simple_lease.h wants a
// test like these; what several processes do to each other is for scenarios and for hunting.

#include "simple_lease.h"

#include <gtest/gtest.h>

#include "machine_test.h"

namespace simple_lease {
namespace {

using whorl::Duration;
using whorl::Milliseconds;
using whorl::Seconds;

class SimpleLeaseTest : public own_protocol::MachineTest<Config, State> {
 protected:
  SimpleLeaseTest() : MachineTest(MakeConfig("locktable", "lock", "a", Seconds(10))) {}

  // Finds no row, and makes it.
  void BecomesLeader(Duration sent, Duration answered) {
    Take({}, whorl::Started{});
    whorl::TransactionEnded read{.request = kRound, .step = steps::kLook, .result = {}};
    read.result.outcome = whorl::Outcome::kCommitted;
    read.result.results.emplace_back();
    Take(Milliseconds(5), read);
    CommitsAt(answered, kRound, steps::kCreate, sent);
  }
};

TEST_F(SimpleLeaseTest, BelievesForLessThanALeaseFromTheSendingOfTheCommit) {
  // Others count the lease from the commit timestamp, which is not before the sending.
  BecomesLeader(Milliseconds(6), Seconds(3));
  EXPECT_TRUE(SaysThatItHasTheLock(Seconds(9)));
  EXPECT_FALSE(SaysThatItHasTheLock(Milliseconds(10'006)));
}

TEST_F(SimpleLeaseTest, AHeartbeatProlongsTheBelief) {
  BecomesLeader(Milliseconds(6), Milliseconds(12));
  Take(Seconds(4), whorl::TimerFired{kWake});
  CommitsAt(Seconds(5), kRound, steps::kBeat, Seconds(4));
  EXPECT_TRUE(SaysThatItHasTheLock(Seconds(13)));
  EXPECT_FALSE(SaysThatItHasTheLock(Seconds(14)));
}

TEST_F(SimpleLeaseTest, AnAnswerThatComesTooLateIsNotBelieved) {
  // A pause between Commit and answer may have outlived the lease.
  BecomesLeader(Milliseconds(6), Seconds(11));
  EXPECT_FALSE(SaysThatItHasTheLock(Seconds(11)));
}

TEST_F(SimpleLeaseTest, GivesTheRowBackOnceTheWorkHasStopped) {
  // Not before: the next leader would work beside it.
  BecomesLeader(Milliseconds(6), Milliseconds(12));
  Take(Seconds(1), whorl::StopRequested{});
  EXPECT_FALSE(SaysThatItHasTheLock(Seconds(1)));
  Take(Seconds(2), whorl::WorkStopped{});
  EXPECT_EQ(Sends(), "hand_back");
}

TEST_F(SimpleLeaseTest, GivesBackWhatAHeartbeatDuringTheStopHasProlonged) {
  // Others count from that heartbeat, and would wait.
  BecomesLeader(Milliseconds(6), Milliseconds(12));
  Take(Seconds(4), whorl::TimerFired{kWake});
  Take(Milliseconds(4'005), whorl::StopRequested{});
  CommitsAt(Milliseconds(4'010), kRound, steps::kBeat, Milliseconds(4'006));
  EXPECT_EQ(effects_.size(), 1U);  // the deadline, and no other heartbeat
  Take(Seconds(11), whorl::WorkStopped{});
  EXPECT_EQ(Sends(), "hand_back");
}

TEST_F(SimpleLeaseTest, GivesNothingBackWhileWorkOfAnEarlierTermGoesOn) {
  // Its belief has lapsed and it claims again, but its application needs time to stop.
  BecomesLeader(Milliseconds(6), Milliseconds(12));
  Take(Seconds(11), whorl::TimerFired{kDeadline});
  state_.doing = State::Doing::kClaiming;
  Take(Seconds(12), whorl::StopRequested{});
  CommitsAt(Seconds(13), kRound, steps::kClaim, Seconds(12));
  EXPECT_TRUE(effects_.empty());
  Take(Seconds(14), whorl::WorkStopped{});
  EXPECT_TRUE(effects_.empty());  // it runs out
}

TEST_F(SimpleLeaseTest, GivesBackWhatItWinsAfterTheWorkHasStopped) {
  // Others would wait for a lease that nobody uses.
  Take({}, whorl::Started{});
  state_.doing = State::Doing::kClaiming;
  Take(Seconds(1), whorl::StopRequested{});
  Take(Seconds(1), whorl::WorkStopped{});
  CommitsAt(Seconds(2), kRound, steps::kClaim, Seconds(1));
  EXPECT_EQ(Sends(), "hand_back");
}

}  // namespace
}  // namespace simple_lease
