// fenced_lease while it leads: the deadline, heartbeats, how a term ends, what it answers, and how
// it stops. The rules are those of protocol/fenced_lease/README.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/fenced_lease/words.h"
#include "tests/protocol/fenced_lease_testing.h"

namespace whorl::fenced_lease::fenced_lease_term_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using FencedLeaseStopTest = LeaseTest;

// It leads from 0 on.
class FencedLeaseTermTest : public LeaseTest {
 protected:
  FencedLeaseTermTest() { Leads(a); }
};

// --- the deadline ------------------------------------------------------------------------------

TEST_F(FencedLeaseTermTest, LeadsUntilTheLeaseLessRhoAfterTheFirstSendingOfItsCommit) {
  // D = s + L (1 - rho): not from the reply, which may have come late.
  Lease late;
  late.Starts();
  late.Sees(ReleasedRow());
  late.At(Seconds(4));
  late.sent = ShownAfter(Seconds(1));
  late.Wins(At(Seconds(2)));
  EXPECT_EQ(late.timers.at(kDeadline), ShownAfter(Seconds(1) + Milliseconds(9'990)));
  EXPECT_EQ(LeadershipViewOf(late.state).believes_until,
            ShownAfter(Seconds(1) + Milliseconds(9'990)));
  EXPECT_TRUE(late.HasLock());
  late.At(Seconds(1) + Milliseconds(9'990) - Nanoseconds(1));
  EXPECT_TRUE(late.HasLock());
}

TEST_F(FencedLeaseTermTest, TheGuardIsTakenOffTheDeadline) {
  Lease guarded;
  guarded.config = MakeConfig("locktable", "job", "a", Seconds(10), Milliseconds(500));
  Leads(guarded);
  EXPECT_EQ(guarded.timers.at(kDeadline), ShownAfter(Milliseconds(9'490)));
}

TEST_F(FencedLeaseTermTest, JudgesItsDeadlineAtEveryAnswerEvenIfTheTimerIsLate) {
  // A host may be late with a timer; an answer may not.
  a.At(Milliseconds(9'990));
  EXPECT_FALSE(a.HasLock());
  EXPECT_THAT(a.did, Contains("callback 0"));
  EXPECT_FALSE(a.Believes());
}

TEST_F(FencedLeaseTermTest, ALateReplyToAHeartbeatDoesNotReviveATerm) {
  // A term ends at D for good: others may rely on it from then on.
  a.Fires(kBeat);
  a.At(Seconds(10));
  a.BeatCommits(At(Seconds(6)));
  EXPECT_FALSE(a.state.term.has_value());
  EXPECT_FALSE(a.HasLock());
}

TEST_F(FencedLeaseTermTest, SendsNoHeartbeatAfterItsDeadline) {
  // One would tell the followers of a life that is over. What is out gives up at D by itself.
  a.Fires(kBeat);
  EXPECT_EQ(a.Out(steps::kBeat).give_up_at, ShownAfter(Milliseconds(9'990)));
  a.At(Milliseconds(9'990));
  a.Fires(kDeadline);
  EXPECT_FALSE(a.timers.contains(kBeat));
  EXPECT_THAT(a.did, Contains("callback 0"));
  EXPECT_THAT(a.did, Contains("run read"));
}

// --- the token ---------------------------------------------------------------------------------

TEST_F(FencedLeaseTermTest, TheTokenIsTheGrantsCommitTimestampAndHeartbeatsKeepIt) {
  // As unix nanoseconds, so that a resource can compare integers.
  a.Asks(Question::kHasLock);
  const std::string answer = "HasLock yes token=" + std::to_string(FirstToken().UnixNanos());
  EXPECT_THAT(a.did, ElementsAre(answer));
  a.Fires(kBeat);
  a.BeatCommits(At(Seconds(6)));
  EXPECT_THAT(a.Asks(Question::kHasLock), ElementsAre(answer));
}

TEST_F(FencedLeaseTermTest, AsksNobodyToAnswer) {
  // HasLock is answered at once, by the state and the clock.
  for (const Question question : {Question::kHasLock, Question::kHasLock2, Question::kLeader,
                                  Question::kDuration, Question::kIterations}) {
    EXPECT_THAT(a.Asks(question), ElementsAre(HasSubstr(" yes")));
  }
}

// --- heartbeats --------------------------------------------------------------------------------

TEST_F(FencedLeaseTermTest, BeatsEverySixtyPercentOfTheLease) {
  // Followers rely on it: they look when the next one is due.
  EXPECT_EQ(a.timers.at(kBeat), ShownAfter(Seconds(6)));
  a.Fires(kBeat);
  EXPECT_TRUE(a.IsOut(steps::kBeat));
  a.BeatCommits(At(Seconds(6)));
  EXPECT_EQ(a.timers.at(kBeat), ShownAfter(Seconds(12)));
  EXPECT_EQ(a.timers.at(kDeadline), ShownAfter(Seconds(6) + Milliseconds(9'990)));
}

TEST_F(FencedLeaseTermTest, OneDmlInAnOptimisticTransactionThatNamesTokenAndAttempt) {
  // A hanging process leaves no locks, and a deposed one changes nothing.
  const std::string attempt = a.state.prefix + "-1";
  a.Fires(kBeat);
  const Transaction& beat = a.Out(steps::kBeat);
  EXPECT_EQ(beat.mode, Mode::kReadWrite);
  EXPECT_EQ(beat.lock_mode, LockMode::kOptimistic);
  ASSERT_EQ(beat.statements.size(), 1U);
  EXPECT_EQ(a.Parameter(steps::kBeat, 0), Value("job"));
  EXPECT_EQ(a.Parameter(steps::kBeat, 1), Value(FirstToken()));
  EXPECT_EQ(a.Parameter(steps::kBeat, 2), Value(attempt));
}

TEST_F(FencedLeaseTermTest, SendsAnotherWhileNoneIsAcknowledged) {
  // A lost reply must not cost the lock: 0.4 L are left, and six more heartbeats fit.
  a.Fires(kBeat);
  EXPECT_EQ(a.timers.at(kBeat), ShownAfter(Seconds(6) + Milliseconds(625)));  // L / 16
  a.Fires(kBeat);
  EXPECT_EQ(a.CountOut(steps::kBeat), 2);
  a.BeatCommits(At(Seconds(6)));  // the first one's reply
  EXPECT_EQ(a.timers.at(kDeadline), ShownAfter(Seconds(6) + Milliseconds(9'990)));
  EXPECT_EQ(a.timers.at(kBeat), ShownAfter(Seconds(12)));
}

TEST_F(FencedLeaseTermTest, WaitsTwiceTheSmoothedLatencyWhereThatIsLonger) {
  // Else a slow network would carry every heartbeat several times.
  a.Fires(kBeat);
  a.At(Seconds(8));
  a.BeatCommits(At(Seconds(7)));  // 2 s: smoothed to 0.5 s
  EXPECT_EQ(a.state.commit_latency, Milliseconds(500));
  a.Fires(kBeat);
  EXPECT_EQ(a.timers.at(kBeat), a.now + Seconds(1));
}

TEST_F(FencedLeaseTermTest, AnUnknownOrFailedHeartbeatMovesNothing) {
  // The deadline moves on an acknowledged one only.
  a.Fires(kBeat);
  a.BeatEndsUnknown();
  EXPECT_EQ(a.timers.at(kDeadline), ShownAfter(Milliseconds(9'990)));
  EXPECT_TRUE(a.timers.contains(kBeat));
  a.Fires(kBeat);
  a.BeatFails();
  EXPECT_EQ(a.timers.at(kDeadline), ShownAfter(Milliseconds(9'990)));
  EXPECT_TRUE(a.HasLock());
}

TEST_F(FencedLeaseTermTest, AnOlderAcknowledgementDoesNotTakeTheDeadlineBack) {
  a.Fires(kBeat);
  a.Fires(kBeat);
  a.sent = ShownAfter(Seconds(6) + Milliseconds(625));
  a.BeatCommits(At(Milliseconds(6'620)));
  const LocalInstant deadline = a.timers.at(kDeadline);
  a.sent = ShownAfter(Seconds(6));
  a.BeatCommits(At(Milliseconds(6'610)));
  EXPECT_EQ(a.timers.at(kDeadline), deadline);
}

TEST_F(FencedLeaseTermTest, AHeartbeatThatFindsNoRowOfItsOwnEndsTheTermAtOnce) {
  // Another process took the lock, or an operator deleted the row.
  a.Fires(kBeat);
  a.BeatFindsNothing();
  EXPECT_FALSE(a.HasLock());
  EXPECT_TRUE(a.IsOut(steps::kRead));
}

TEST_F(FencedLeaseTermTest, AHeartbeatOfAnEarlierTermEndsNothing) {
  a.Fires(kBeat);
  const std::string attempt = a.state.prefix + "-1";
  a.At(Milliseconds(9'990));
  a.Fires(kDeadline);
  a.Sees({.heartbeat = FirstToken(), .token = FirstToken(), .attempt = attempt});
  a.Wins(At(Seconds(10)));
  a.BeatFindsNothing();
  EXPECT_TRUE(a.HasLock());
}

// --- a clock that stood still ------------------------------------------------------------------

TEST_F(FencedLeaseTermTest, StepsDownWhenSpannersTimeHasOutrunItsOwn) {
  // Its deadline is late by as much as the clock stood still, so it proves nothing any more.
  a.Fires(kBeat);
  a.BeatCommits(At(Seconds(8)));  // 7.999 s after the grant; 6 s by its clock
  EXPECT_FALSE(a.HasLock());
  EXPECT_THAT(a.state.term, testing::Eq(std::nullopt));
}

TEST_F(FencedLeaseTermTest, ToleratesWhatRatesAndTimestampsMayBeOff) {
  // (recv - send)(1 + rho) + 50 ms, and not a nanosecond more.
  const Duration most = Seconds(6) + Milliseconds(6) + Milliseconds(50);
  Lease just;
  Leads(just);
  just.Fires(kBeat);
  just.BeatCommits(FirstToken() + most);
  EXPECT_TRUE(just.HasLock());
  Lease beyond;
  Leads(beyond);
  beyond.Fires(kBeat);
  beyond.BeatCommits(FirstToken() + most + Microseconds(1));
  EXPECT_FALSE(beyond.HasLock());
}

TEST_F(FencedLeaseStopTest, GivesTheRowBackOnlyWhenTheWorkHasStopped) {
  // Given back earlier, the next holder would work beside this one (finding V6 of spindle v3).
  Leads(a);
  a.At(Seconds(2));
  EXPECT_THAT(a.Stops(), ElementsAre("cancel poll", "cancel take", "cancel beat", "callback 0"));
  EXPECT_FALSE(a.HasLock()) << "nothing new is begun";
  EXPECT_FALSE(a.IsOut(steps::kRelease));
  a.WorkStops();
  ASSERT_TRUE(a.IsOut(steps::kRelease));
  EXPECT_EQ(a.Parameter(steps::kRelease, 1), Value(FirstToken()));
  EXPECT_EQ(a.Parameter(steps::kRelease, 2), Value(a.state.prefix + "-1"));
}

TEST(FencedLeaseAnnounceTest, AnnouncesWhatItHasGivenBackAndNothingElse) {
  const auto releasing = [](const auto& ends) {
    Lease a;
    Leads(a);
    a.Stops();
    EXPECT_THAT(a.WorkStops(), Not(Contains("announce"))) << "it is not given back yet";
    return ends(a);
  };
  EXPECT_THAT(releasing([](Lease& a) { return a.ReleaseCommits(); }), ElementsAre("announce"));
  EXPECT_THAT(releasing([](Lease& a) { return a.ReleaseFindsNothing(); }), IsEmpty());
  EXPECT_THAT(releasing([](Lease& a) { return a.ReleaseEndsUnknown(); }), IsEmpty());
}

TEST_F(FencedLeaseStopTest, ARowIsNotGivenBackAtTheDeadlineWhileTheWorkStillRuns) {
  // Who takes a released row begins at once, beside that work. Left to its lease, the row is taken
  // as after a crash.
  Leads(a);
  a.At(Seconds(2));
  a.Stops();
  a.Fires(kDeadline);
  EXPECT_EQ(a.now, ShownAfter(Milliseconds(9'990)));
  EXPECT_FALSE(a.IsOut(steps::kRelease));
  a.WorkStops();
  EXPECT_FALSE(a.IsOut(steps::kRelease)) << "the term ended, and another process may hold the row";
}

TEST_F(FencedLeaseStopTest, AFollowerThatStopsWritesNothing) {
  Follows(a);
  a.Stops();
  a.WorkStops();
  EXPECT_TRUE(a.timers.empty());
  EXPECT_THAT(a.did, IsEmpty());
}

TEST_F(FencedLeaseStopTest, WhatIsWonAfterTheStopIsGivenBack) {
  // Else a deployment that stops the winner of a race would cost a whole lease.
  a.Starts();
  a.Sees(ReleasedRow());
  a.Stops();
  a.WorkStops();
  EXPECT_THAT(a.Wins(FirstToken()), ElementsAre("run release"));
  EXPECT_FALSE(a.HasLock());
}

TEST_F(FencedLeaseStopTest, WhatIsWonWhileTheWorkOfTheTermBeforeRunsIsNotGivenBack) {
  // The next holder would begin beside work that needs its time to stop.
  a.Starts();
  a.Sees(ReleasedRow());
  a.Stops();
  a.Wins(FirstToken());
  EXPECT_FALSE(a.IsOut(steps::kRelease));
}

TEST_F(FencedLeaseStopTest, WhatWasNeverBelievedInIsNotGivenBack) {
  // A process that takes a released row believes at once. But a process whose row an operator deleted
  // may still believe, too.
  a.Starts();
  a.SeesNoRow();
  a.Wins(FirstToken());
  a.Stops();
  a.WorkStops();
  EXPECT_FALSE(a.IsOut(steps::kRelease));
  Lease late;
  late.Starts();
  late.SeesNoRow();
  late.Stops();
  EXPECT_THAT(late.Wins(FirstToken()), IsEmpty());
  Lease again;  // it took its own row anew during the wait
  again.Starts();
  again.SeesNoRow();
  again.sent = ShownAfter(Seconds(-3));
  again.Wins(FirstToken());
  again.Fires(kDeadline);
  again.Sees({.heartbeat = FirstToken(), .attempt = again.state.prefix + "-1c"});
  again.Stops();
  EXPECT_THAT(again.Wins(At(Seconds(8))), IsEmpty());
}

}  // namespace
}  // namespace whorl::fenced_lease::fenced_lease_term_test
