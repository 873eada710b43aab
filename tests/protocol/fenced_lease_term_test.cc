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
using testing::IsEmpty;
using testing::Not;

// --- the deadline ------------------------------------------------------------------------------

TEST(FencedLeaseTermTest, LeadsUntilTheLeaseLessRhoAfterTheFirstSendingOfItsCommit) {
  // D = s + L (1 - rho): not from the reply, which may have come late.
  Lease a;
  a.Starts();
  a.Sees(ReleasedRow());
  a.At(Seconds(4));
  a.sent = ShownAfter(Seconds(1));
  a.Wins(At(Seconds(2)));
  EXPECT_EQ(a.timers.at(kDeadline), ShownAfter(Seconds(1) + Milliseconds(9'990)));
  EXPECT_EQ(StandingOf(a.state).believes_until, ShownAfter(Seconds(1) + Milliseconds(9'990)));
  EXPECT_TRUE(a.HasLock());
  a.At(Seconds(1) + Milliseconds(9'990) - Nanoseconds(1));
  EXPECT_TRUE(a.HasLock());
}

TEST(FencedLeaseTermTest, TheGuardIsTakenOffTheDeadline) {
  Lease a;
  a.config = MakeConfig("locktable", "job", "a", Seconds(10), Milliseconds(500));
  Leads(a);
  EXPECT_EQ(a.timers.at(kDeadline), ShownAfter(Milliseconds(9'490)));
}

TEST(FencedLeaseTermTest, JudgesItsDeadlineAtEveryAnswerEvenIfTheTimerIsLate) {
  // A host may be late with a timer; an answer may not.
  Lease a;
  Leads(a);
  a.At(Milliseconds(9'990));
  EXPECT_FALSE(a.HasLock());
  EXPECT_THAT(a.did, Contains("callback 0"));
  EXPECT_FALSE(StandingOf(a.state).believes);
}

TEST(FencedLeaseTermTest, ALateReplyToAHeartbeatDoesNotReviveATerm) {
  // A term ends at D for good: others may rely on it from then on.
  Lease a;
  Leads(a);
  a.Fires(kBeat);
  a.At(Seconds(10));
  a.BeatCommits(At(Seconds(6)));
  EXPECT_FALSE(a.state.term.has_value());
  EXPECT_FALSE(a.HasLock());
}

TEST(FencedLeaseTermTest, SendsNoHeartbeatAfterItsDeadline) {
  // One would tell the followers of a life that is over. What is out gives up at D by itself.
  Lease a;
  Leads(a);
  a.Fires(kBeat);
  EXPECT_EQ(a.Out(steps::kBeat).give_up_at, ShownAfter(Milliseconds(9'990)));
  a.At(Milliseconds(9'990));
  a.Fires(kDeadline);
  EXPECT_FALSE(a.timers.contains(kBeat));
  EXPECT_THAT(a.did, Contains("callback 0"));
  EXPECT_THAT(a.did, Contains("run read"));
}

// --- the token ---------------------------------------------------------------------------------

TEST(FencedLeaseTermTest, TheTokenIsTheGrantsCommitTimestampAndHeartbeatsKeepIt) {
  // As unix nanoseconds, so that a resource can compare integers.
  Lease a;
  Leads(a);
  a.Asks();
  const std::string answer = "answer yes token=" + std::to_string(FirstToken().UnixNanos());
  EXPECT_THAT(a.did, ElementsAre(answer));
  a.Fires(kBeat);
  a.BeatCommits(At(Seconds(6)));
  a.Asks();
  EXPECT_THAT(a.did, ElementsAre(answer));
}

TEST(FencedLeaseTermTest, AsksNobodyToAnswer) {
  // HasLock is answered at once, by the state and the clock.
  Lease a;
  Leads(a);
  for (const Question question : {Question::kHasLock, Question::kHasLock2, Question::kLeader,
                                  Question::kDuration, Question::kIterations}) {
    a.Asks(question);
    EXPECT_EQ(a.did.size(), 1U);
    EXPECT_EQ(a.did.front().rfind("answer yes", 0), 0U) << a.did.front();
  }
  a.Asks(Question::kLock);
  EXPECT_THAT(a.did, ElementsAre("answer no 'fenced_lease has no blocking Lock()'"));
}

// --- heartbeats --------------------------------------------------------------------------------

TEST(FencedLeaseTermTest, BeatsEverySixtyPercentOfTheLease) {
  // Followers rely on it: they look when the next one is due.
  Lease a;
  Leads(a);
  EXPECT_EQ(a.timers.at(kBeat), ShownAfter(Seconds(6)));
  a.Fires(kBeat);
  EXPECT_TRUE(a.IsOut(steps::kBeat));
  a.BeatCommits(At(Seconds(6)));
  EXPECT_EQ(a.timers.at(kBeat), ShownAfter(Seconds(12)));
  EXPECT_EQ(a.timers.at(kDeadline), ShownAfter(Seconds(6) + Milliseconds(9'990)));
}

TEST(FencedLeaseTermTest, OneDmlInAnOptimisticTransactionThatNamesTokenAndAttempt) {
  // A hanging process leaves no locks, and a deposed one changes nothing.
  Lease a;
  Leads(a);
  const std::string attempt = a.state.prefix + "-1";
  a.Fires(kBeat);
  const Transaction& beat = a.Out(steps::kBeat);
  EXPECT_EQ(beat.mode, Mode::kReadWrite);
  EXPECT_EQ(beat.lock_mode, LockMode::kOptimistic);
  ASSERT_EQ(beat.statements.size(), 1U);
  EXPECT_EQ(a.Parameter(steps::kBeat, 0), Value(std::string("job")));
  EXPECT_EQ(a.Parameter(steps::kBeat, 1), Value(FirstToken()));
  EXPECT_EQ(a.Parameter(steps::kBeat, 2), Value(attempt));
}

TEST(FencedLeaseTermTest, SendsAnotherWhileNoneIsAcknowledged) {
  // A lost reply must not cost the lock: 0.4 L are left, and six more heartbeats fit.
  Lease a;
  Leads(a);
  a.Fires(kBeat);
  EXPECT_EQ(a.timers.at(kBeat), ShownAfter(Seconds(6) + Milliseconds(625)));  // L / 16
  a.Fires(kBeat);
  EXPECT_EQ(a.CountOut(steps::kBeat), 2U);
  a.BeatCommits(At(Seconds(6)));  // the first one's reply
  EXPECT_EQ(a.timers.at(kDeadline), ShownAfter(Seconds(6) + Milliseconds(9'990)));
  EXPECT_EQ(a.timers.at(kBeat), ShownAfter(Seconds(12)));
}

TEST(FencedLeaseTermTest, WaitsTwiceTheSmoothedLatencyWhereThatIsLonger) {
  // Else a slow network would carry every heartbeat several times.
  Lease a;
  Leads(a);
  a.Fires(kBeat);
  a.At(Seconds(8));
  a.BeatCommits(At(Seconds(7)));  // 2 s: smoothed to 0.5 s
  EXPECT_EQ(a.state.commit_latency, Milliseconds(500));
  a.Fires(kBeat);
  EXPECT_EQ(a.timers.at(kBeat), a.now + Seconds(1));
}

TEST(FencedLeaseTermTest, AnUnknownOrFailedHeartbeatMovesNothing) {
  // The deadline moves on an acknowledged one only.
  Lease a;
  Leads(a);
  a.Fires(kBeat);
  a.BeatEndsUnknown();
  EXPECT_EQ(a.timers.at(kDeadline), ShownAfter(Milliseconds(9'990)));
  EXPECT_TRUE(a.timers.contains(kBeat));
  a.Fires(kBeat);
  a.BeatFails();
  EXPECT_EQ(a.timers.at(kDeadline), ShownAfter(Milliseconds(9'990)));
  EXPECT_TRUE(a.HasLock());
}

TEST(FencedLeaseTermTest, AnOlderAcknowledgementDoesNotTakeTheDeadlineBack) {
  Lease a;
  Leads(a);
  a.Fires(kBeat);
  a.Fires(kBeat);
  a.sent = ShownAfter(Seconds(6) + Milliseconds(625));
  a.BeatCommits(At(Milliseconds(6'620)));
  const LocalInstant deadline = a.timers.at(kDeadline);
  a.sent = ShownAfter(Seconds(6));
  a.BeatCommits(At(Milliseconds(6'610)));
  EXPECT_EQ(a.timers.at(kDeadline), deadline);
}

TEST(FencedLeaseTermTest, AHeartbeatThatFindsNoRowOfItsOwnEndsTheTermAtOnce) {
  // Another process took the lock, or an operator deleted the row.
  Lease a;
  Leads(a);
  a.Fires(kBeat);
  a.BeatFindsNothing();
  EXPECT_FALSE(a.HasLock());
  EXPECT_TRUE(a.IsOut(steps::kRead));
}

TEST(FencedLeaseTermTest, AHeartbeatOfAnEarlierTermEndsNothing) {
  Lease a;
  Leads(a);
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

TEST(FencedLeaseTermTest, StepsDownWhenSpannersTimeHasOutrunItsOwn) {
  // Its deadline is late by as much as the clock stood still, so it proves nothing any more.
  Lease a;
  Leads(a);
  a.Fires(kBeat);
  a.BeatCommits(At(Seconds(8)));  // 7.999 s after the grant, of which its clock knows 6
  EXPECT_FALSE(a.HasLock());
  EXPECT_THAT(a.state.term, testing::Eq(std::nullopt));
}

TEST(FencedLeaseTermTest, ToleratesWhatRatesAndTimestampsMayBeOff) {
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

// --- stopping ----------------------------------------------------------------------------------

TEST(FencedLeaseStopTest, GivesTheRowBackOnlyWhenTheWorkHasStopped) {
  // Given back earlier, the next holder would work beside this one (finding V6 of spindle v3).
  Lease a;
  Leads(a);
  a.At(Seconds(2));
  a.Stops();
  EXPECT_THAT(a.did, ElementsAre("cancel poll", "cancel take", "cancel beat", "callback 0"));
  EXPECT_FALSE(a.HasLock()) << "nothing new is begun";
  EXPECT_FALSE(a.IsOut(steps::kRelease));
  a.WorkIsOver();
  ASSERT_TRUE(a.IsOut(steps::kRelease));
  EXPECT_EQ(a.Parameter(steps::kRelease, 1), Value(FirstToken()));
  EXPECT_EQ(a.Parameter(steps::kRelease, 2), Value(a.state.prefix + "-1"));
}

TEST(FencedLeaseStopTest, AnnouncesWhatItHasGivenBackAndNothingElse) {
  const auto releasing = [](const auto& ends) {
    Lease a;
    Leads(a);
    a.Stops();
    a.WorkIsOver();
    EXPECT_THAT(a.did, Not(Contains("announce"))) << "it is not given back yet";
    ends(a);
    return a.did;
  };
  EXPECT_THAT(releasing([](Lease& a) { a.ReleaseCommits(); }), ElementsAre("announce"));
  EXPECT_THAT(releasing([](Lease& a) { a.ReleaseFindsNothing(); }), IsEmpty());
  EXPECT_THAT(releasing([](Lease& a) { a.ReleaseEndsUnknown(); }), IsEmpty());
}

TEST(FencedLeaseStopTest, ARowIsNotGivenBackAtTheDeadlineWhileTheWorkStillRuns) {
  // Who takes a released row begins at once, beside that work. Left to its lease, the row is taken
  // as after a crash.
  Lease a;
  Leads(a);
  a.At(Seconds(2));
  a.Stops();
  a.Fires(kDeadline);
  EXPECT_EQ(a.now, ShownAfter(Milliseconds(9'990)));
  EXPECT_FALSE(a.IsOut(steps::kRelease));
  a.WorkIsOver();
  EXPECT_FALSE(a.IsOut(steps::kRelease)) << "the term ended, and another process may hold the row";
}

TEST(FencedLeaseStopTest, AFollowerThatStopsWritesNothing) {
  Lease a;
  Follows(a);
  a.Stops();
  a.WorkIsOver();
  EXPECT_TRUE(a.timers.empty());
  EXPECT_THAT(a.did, IsEmpty());
}

TEST(FencedLeaseStopTest, WhatIsWonAfterTheStopIsGivenBack) {
  // Else a deployment that stops the winner of a race would cost a whole lease.
  Lease a;
  a.Starts();
  a.Sees(ReleasedRow());
  a.Stops();
  a.WorkIsOver();
  a.Wins(FirstToken());
  EXPECT_THAT(a.did, ElementsAre("run release"));
  EXPECT_FALSE(a.HasLock());
}

TEST(FencedLeaseStopTest, WhatIsWonWhileTheWorkOfTheTermBeforeRunsIsNotGivenBack) {
  // The next holder would begin beside work that needs its time to stop.
  Lease a;
  a.Starts();
  a.Sees(ReleasedRow());
  a.Stops();
  a.Wins(FirstToken());
  EXPECT_FALSE(a.IsOut(steps::kRelease));
}

TEST(FencedLeaseStopTest, WhatWasNeverBelievedInIsNotGivenBack) {
  // A process that takes a released row believes at once. But a process whose row an operator deleted
  // may still believe, too.
  Lease a;
  a.Starts();
  a.SeesNoRow();
  a.Wins(FirstToken());
  a.Stops();
  a.WorkIsOver();
  EXPECT_FALSE(a.IsOut(steps::kRelease));
  Lease late;
  late.Starts();
  late.SeesNoRow();
  late.Stops();
  late.Wins(FirstToken());
  EXPECT_THAT(late.did, IsEmpty());
  Lease again;  // it took its own row anew during the wait
  again.Starts();
  again.SeesNoRow();
  again.sent = ShownAfter(Seconds(-3));
  again.Wins(FirstToken());
  again.Fires(kDeadline);
  again.Sees({.heartbeat = FirstToken(), .attempt = again.state.prefix + "-1c"});
  again.Stops();
  again.Wins(At(Seconds(8)));
  EXPECT_THAT(again.did, IsEmpty());
}

}  // namespace
}  // namespace whorl::fenced_lease::fenced_lease_term_test
