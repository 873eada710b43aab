// fenced_lease before it leads: what it does with a row that it sees, when it takes it, what it
// believes of what it took, and what it does after an answer was lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "protocol/fenced_lease/row.h"
#include "protocol/fenced_lease/words.h"
#include "tests/protocol/fenced_lease_testing.h"

namespace whorl::fenced_lease::fenced_lease_claim_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using FencedLeaseFollowerTest = LeaseTest;
using FencedLeaseAnswerTest = LeaseTest;

const Duration kLonger = Seconds(10) + Milliseconds(10);  // L (1 + rho)

// A TAKE or a CREATE was sent, and what became of it is not known.
struct LostClaim {
  LocalInstant sent;
  std::string attempt;
};
LostClaim LosesTheAnswer(Lease& a) {
  const LostClaim claim = {.sent = a.now, .attempt = a.Attempt()};
  a.ClaimEndsUnknown();
  return claim;
}
LostClaim TakesAndHearsNothing(Lease& a) {
  Follows(a);
  a.Fires(kTake);
  return LosesTheAnswer(a);
}
LostClaim CreatesAndHearsNothing(Lease& a) {
  a.Starts();
  a.SeesNoRow();
  return LosesTheAnswer(a);
}

// --- looking -----------------------------------------------------------------------------------

TEST_F(FencedLeaseFollowerTest, BeginsWithAStrongReadThatIsToldItsTimestamp) {
  EXPECT_THAT(a.Starts(), ElementsAre("cancel poll", "run read"));
  EXPECT_EQ(a.Out(steps::kRead).mode, Mode::kStrongRead);
  EXPECT_TRUE(a.Out(steps::kRead).return_read_timestamp);
}

TEST_F(FencedLeaseFollowerTest, WaitsALeaseAndRhoFromTheFirstReplyThatShowedTheHeartbeat) {
  // The holder's deadline is over by then, whatever the two clocks' rates within rho.
  a.entropy.next = {0, 0, 0, 0, 0};  // four for the attempt ids, then no delay
  Follows(a);
  EXPECT_EQ(a.timers.at(kTake), ShownAfter(kLonger));
  a.At(Seconds(7));
  a.Fires(kPoll);
  a.Sees(TheirRow());
  EXPECT_EQ(a.timers.at(kTake), ShownAfter(kLonger)) << "the same heartbeat again";
}

TEST_F(FencedLeaseFollowerTest, TakesUpToOneTwoHundredthLater) {
  // So that many followers do not all come at once.
  Follows(a);
  EXPECT_EQ(
      a.entropy.draws.back(),
      (ScriptedEntropy::Draw{.purpose = purposes::kTakeDelay, .lo = 0, .hi = Milliseconds(50).ns}));
  EXPECT_EQ(a.timers.at(kTake), ShownAfter(kLonger + Milliseconds(50)));
}

TEST_F(FencedLeaseFollowerTest, JudgesByTheRowsLeaseAndNotItsOwn) {
  // Finding S15 of spindle v2: pods with a shorter lease took live ones.
  a = Lease(Seconds(3));
  Follows(a);
  EXPECT_EQ(a.timers.at(kTake), ShownAfter(kLonger + Milliseconds(50)));
  Lease b(Seconds(3));
  b.Starts();
  TestRow row = TheirRow();
  row.lease_ms = Null{};
  b.Sees(row);
  EXPECT_EQ(b.timers.at(kTake), ShownAfter(Milliseconds(3'003) + Milliseconds(15)))
      << "NULL is the observer's";
}

TEST_F(FencedLeaseFollowerTest, TakesWithoutAnotherLookTheHeartbeatThatItSaw) {
  // The compare-and-set is the other look.
  Follows(a);
  EXPECT_THAT(a.Fires(kTake), Contains("run take"));
  EXPECT_EQ(a.Parameter(steps::kTake, 0), Value("job"));
  EXPECT_EQ(a.Parameter(steps::kTake, 1), Value("a"));
  EXPECT_EQ(a.Parameter(steps::kTake, 2), Value(10'000));
  EXPECT_EQ(a.Attempt(), a.state.prefix + "-1");
  EXPECT_EQ(a.Parameter(steps::kTake, 4), TheirRow().heartbeat);
  EXPECT_EQ(a.Out(steps::kTake).lock_mode, LockMode::kOptimistic);
}

TEST_F(FencedLeaseFollowerTest, ANewHeartbeatBeginsTheWaitAnew) {
  Follows(a);
  a.Fires(kPoll);
  TestRow row = TheirRow();
  row.heartbeat = At(Seconds(5));
  a.Sees(row);
  EXPECT_EQ(a.timers.at(kTake), a.now + kLonger + Milliseconds(50));
}

TEST_F(FencedLeaseFollowerTest, LooksWhenTheNextHeartbeatIsDueAndThenLessAndLessOften) {
  // o + (0.6 L - age) + 30 ms; if nothing has changed, after 30, 60, 120 ms and so on.
  a.Starts();
  const TestRow row = TheirRow(Seconds(1));
  a.Sees(row);
  EXPECT_EQ(a.timers.at(kPoll), ShownAfter(Milliseconds(5'030)));
  for (const int64_t pause : {30, 60, 120, 240}) {
    a.Fires(kPoll);
    a.Sees(row);
    EXPECT_EQ(a.timers.at(kPoll), a.now + Milliseconds(pause));
  }
}

TEST_F(FencedLeaseFollowerTest, LooksAtOnceWhenItHearsOfAReleaseAndBelievesNothingElseOfIt) {
  Follows(a);
  const LocalInstant take_at = a.timers.at(kTake);
  a.At(Seconds(3));
  EXPECT_THAT(a.HearsOfARelease(),
              ElementsAre("note heard of a release", "cancel poll", "run read"));
  a.Sees(TheirRow());  // it was not true
  EXPECT_FALSE(a.IsOut(steps::kTake));
  EXPECT_EQ(a.timers.at(kTake), take_at);
  a.HearsOfARelease();
  a.Sees(ReleasedRow());
  EXPECT_TRUE(a.IsOut(steps::kTake));
  EXPECT_THAT(a.HearsOfARelease(), IsEmpty()) << "a claim is under way, whose answer says all";
}

TEST_F(FencedLeaseFollowerTest, ALookThatIsUnderWayMayBeOlderThanTheReleaseItHearsOf) {
  Follows(a);
  a.Fires(kPoll);
  a.HearsOfARelease();
  EXPECT_EQ(a.CountOut(steps::kRead), 2);
  a.Sees(TheirRow());
  EXPECT_FALSE(a.IsOut(steps::kTake));
  a.Sees(ReleasedRow());
  EXPECT_TRUE(a.IsOut(steps::kTake));
}

// A process with a lease of 9 s that followed rows of shorter leases looked eleven times in a second, since each
// new heartbeat began its pauses anew.
TEST_F(FencedLeaseFollowerTest, LooksWithinItsBudgetWhateverTheRowShowsAndOthersAnnounce) {
  Follows(a);
  TestRow row = TheirRow();
  row.age = Seconds(10);  // by a clock that lies: the next heartbeat is due at once
  for (int heartbeat = 1; heartbeat <= 6; ++heartbeat) {
    row.heartbeat = At(Seconds(heartbeat));
    a.HearsOfARelease();
    ASSERT_TRUE(a.IsOut(steps::kRead)) << heartbeat;
    a.Sees(row);
  }
  const LocalInstant start = a.now;
  for (int look = 1; look <= 20; ++look) {
    row.heartbeat = At(Seconds(10 + look));
    EXPECT_THAT(a.HearsOfARelease(), Not(Contains("run read")));
    a.Fires(kPoll);
    ASSERT_TRUE(a.IsOut(steps::kRead)) << look;
    EXPECT_EQ(a.now, start + Milliseconds(625) * look);
    a.Sees(row);
  }
  a.Passes(Seconds(10));
  a.HearsOfARelease();
  EXPECT_TRUE(a.IsOut(steps::kRead)) << "what passes is paid back";
}

TEST_F(FencedLeaseFollowerTest, WhoLeadsOrStopsOrHasNotStartedDoesNotLookBecauseOfARelease) {
  Lease leader;
  Leads(leader);
  EXPECT_THAT(leader.HearsOfARelease(), IsEmpty());
  Lease stopped;
  Follows(stopped);
  stopped.Stops();
  EXPECT_THAT(stopped.HearsOfARelease(), IsEmpty());
  Lease unborn;
  EXPECT_THAT(unborn.HearsOfARelease(), IsEmpty());
}

TEST_F(FencedLeaseFollowerTest, AnAgeThatIsWrongByAnHourOnlyShiftsTheNextLook) {
  // CURRENT_TIMESTAMP has no bound; nothing that safety rests on may use it.
  for (const Duration age : {Seconds(3'600), -Seconds(3'600)}) {
    a = Lease();
    a.Starts();
    a.Sees(TheirRow(age), At({}));
    EXPECT_FALSE(a.IsOut(steps::kTake));
    EXPECT_EQ(a.timers.at(kTake), ShownAfter(kLonger + Milliseconds(50)));
    EXPECT_GE(a.timers.at(kPoll), ShownAfter(kPollDelay));
    EXPECT_LE(a.timers.at(kPoll), ShownAfter(Seconds(6) + kPollDelay));
  }
}

TEST_F(FencedLeaseFollowerTest, AReadThatFailsIsTriedAgain) {
  a.Starts();
  a.CannotRead();
  EXPECT_EQ(a.timers.at(kPoll), ShownAfter(kPollDelay));
  a.Fires(kPoll);
  EXPECT_TRUE(a.Out(steps::kRead).return_read_timestamp) << "it is still the first look";
}

TEST_F(FencedLeaseFollowerTest, ARowThatCannotBeJudgedIsNamedAndLeftAlone) {
  a.Starts();
  EXPECT_THAT(a.Sees({.heartbeat = Null{}, .writer = Null{}}),
              Contains(HasSubstr("'job' 'heartbeat is NULL")));
  EXPECT_FALSE(a.IsOut(steps::kTake));
  for (const int64_t lease_ms : {0, -1, 3'600'001}) {
    const auto parsed = ParseRow({At({}), Null{}, Null{}, lease_ms, Null{}, 0}, Seconds(1));
    EXPECT_TRUE(std::holds_alternative<std::string>(parsed)) << lease_ms;
  }
  const auto most = ParseRow({At({}), Null{}, Null{}, 3'600'000, Null{}, 0}, Seconds(1));
  EXPECT_EQ(std::get<LockRow>(most).lease, Seconds(3600));
}

// --- taking at once ----------------------------------------------------------------------------

TEST_F(FencedLeaseFollowerTest, TakesAReleasedRowAtOnceAndBelievesAtOnce) {
  Leads(a);
  EXPECT_THAT(a.did, Contains("callback 1"));
  EXPECT_TRUE(a.HasLock());
}

TEST_F(FencedLeaseFollowerTest, TakesAtItsFirstLookWhatTheReadsTimestampShowsToBeAbandoned) {
  // Two leases: by TrueTime, which lease_respected assumes, and not by CURRENT_TIMESTAMP.
  a.Starts();
  a.Sees(TheirRow(), At(Seconds(19)));
  EXPECT_TRUE(a.IsOut(steps::kTake));
  a.Wins(At(Seconds(19) + Milliseconds(5)));
  EXPECT_TRUE(a.HasLock());
  Lease b;
  b.Starts();
  b.Sees(TheirRow(), At(Seconds(19) - Nanoseconds(1)));
  EXPECT_FALSE(b.IsOut(steps::kTake));
}

TEST_F(FencedLeaseFollowerTest, OnlyAtItsFirstLookAndOnlyWithAReadTimestamp) {
  Follows(a);
  a.Fires(kPoll);
  EXPECT_FALSE(a.Out(steps::kRead).return_read_timestamp);
  a.Sees(TheirRow(), At(Seconds(100)));
  EXPECT_FALSE(a.IsOut(steps::kTake));
  Lease untold;
  untold.Starts();
  untold.Sees(TheirRow(Seconds(100)));
  EXPECT_FALSE(untold.IsOut(steps::kTake)) << "an age by CURRENT_TIMESTAMP proves nothing";
}

TEST_F(FencedLeaseFollowerTest, WhatItTookAtOnceItBelievesInWhenTheLeaseIsOver) {
  // Should the commit timestamp deny what the read's said, the rest of the lease is waited for.
  a.Starts();
  a.Sees(TheirRow(), At(Seconds(100)));
  a.Wins(At(Seconds(3)));  // 4 s after the heartbeat: 6 s are left
  EXPECT_FALSE(a.HasLock());
  EXPECT_EQ(a.timers.at(kBelieve), ShownAfter(Milliseconds(6'006)));
  a.Fires(kBeat);
  a.BeatCommits(At(Seconds(9)));
  a.Fires(kBelieve);
  EXPECT_TRUE(a.HasLock());
}

TEST_F(FencedLeaseFollowerTest, CreatesWhereThereIsNoRowAndBelievesALeaseLater) {
  // An operator may have deleted the row of a process that still believes that it leads.
  a.Starts();
  a.SeesNoRow();
  ASSERT_TRUE(a.IsOut(steps::kCreate));
  EXPECT_EQ(a.Attempt(), a.state.prefix + "-1c");
  a.At(Seconds(1));
  a.Wins(At(Seconds(1)));
  EXPECT_FALSE(a.HasLock());
  EXPECT_FALSE(a.Believes());
  EXPECT_EQ(a.timers.at(kBelieve), ShownAfter(Seconds(1) + kLonger));
  EXPECT_EQ(a.timers.at(kBeat), ShownAfter(Seconds(6))) << "held by heartbeats all the while";
  a.Fires(kBeat);
  a.BeatCommits(At(Seconds(6)));
  EXPECT_THAT(a.Fires(kBelieve), Contains("callback 1"));
  EXPECT_TRUE(a.HasLock());
}

TEST_F(FencedLeaseFollowerTest, WhoCreatesWaitsForTheLongestLeaseThatItHasSeen) {
  // The row that was deleted may have been of a process with a longer lease.
  a = Lease(Seconds(2));
  Follows(a);
  a.Fires(kPoll);
  a.SeesNoRow();
  const LocalInstant created = a.now;
  a.Wins(At(Seconds(6)));
  EXPECT_EQ(a.timers.at(kBelieve), created + kLonger);
}

TEST_F(FencedLeaseFollowerTest, AWaitOutlivesTheTermInWhichItBegan) {
  // The heartbeats of the wait may fail; what is taken then is not believed in earlier.
  a.Starts();
  a.SeesNoRow();
  a.sent = ShownAfter(Seconds(-3));
  a.Wins(At({}));
  a.Fires(kDeadline);
  EXPECT_EQ(a.now, ShownAfter(Milliseconds(6'990)));
  a.SeesItsOwn(At({}), a.state.prefix + "-1c");
  a.Wins(At(Seconds(7)));
  EXPECT_FALSE(a.HasLock());
  EXPECT_EQ(a.timers.at(kBelieve), ShownAfter(kLonger));
}

TEST_F(FencedLeaseAnswerTest, WhoIsOvertakenLooksAgain) {
  Follows(a);
  a.Fires(kTake);
  a.Loses();
  EXPECT_TRUE(a.IsOut(steps::kRead));
  Lease b;
  b.Starts();
  b.SeesNoRow();
  b.ClaimFails(Code::kAlreadyExists);
  EXPECT_TRUE(b.IsOut(steps::kRead));
}

TEST_F(FencedLeaseAnswerTest, AClaimThatFailedIsNotRepeatedInALoop) {
  Follows(a);
  a.Fires(kTake);
  a.ClaimFails(Code::kUnavailable);
  EXPECT_FALSE(a.IsOut(steps::kRead));
  EXPECT_EQ(a.timers.at(kPoll), a.now + kPollDelay);
}

// The second look after such an answer to a claim, and those after it, come after pauses that double.
void ExpectPausesThatDouble(Lease& a, StepName claim, const std::vector<int64_t>& pauses,
                            const std::function<void()>& sees, const std::function<void()>& fails) {
  a.Starts();
  sees();
  fails();
  EXPECT_TRUE(a.IsOut(steps::kRead)) << "the first look comes at once";
  sees();
  for (const int64_t pause : pauses) {
    ASSERT_TRUE(a.IsOut(claim));
    fails();
    ASSERT_FALSE(a.IsOut(steps::kRead));
    ASSERT_EQ(a.timers.at(kPoll), a.now + Milliseconds(pause));
    a.Fires(kPoll);
    sees();
  }
}

// A process whose Commits were all answered with INTERNAL sent 400 of them in a second.
TEST_F(FencedLeaseAnswerTest, ClaimsThatAreNotAnsweredOrAreOvertakenComeAfterPausesThatDouble) {
  ExpectPausesThatDouble(
      a, steps::kTake, {60, 120, 240, 480, 960, 1'920, 2'500, 2'500},
      [this] { a.Sees(ReleasedRow()); }, [this] { a.ClaimEndsUnknown(); });
  Lease b;
  ExpectPausesThatDouble(
      b, steps::kCreate, {60, 120, 240}, [&b] { b.SeesNoRow(); },
      [&b] { b.ClaimFails(Code::kAlreadyExists); });
}

TEST_F(FencedLeaseAnswerTest, ANewHeartbeatEndsThePauses) {
  a.Starts();
  a.Sees(ReleasedRow());
  a.ClaimEndsUnknown();
  a.Sees(ReleasedRow());
  a.ClaimEndsUnknown();
  a.Fires(kPoll);
  a.Sees(TheirRow());
  a.Fires(kTake);
  a.ClaimEndsUnknown();
  EXPECT_TRUE(a.IsOut(steps::kRead));
}

TEST_F(FencedLeaseAnswerTest, AnUnknownOutcomeIsReadBackAndAdoptedInTime) {
  // Run again it could win twice; and s is when the Commit was first sent.
  Follows(a);
  a.Fires(kTake);
  const LocalInstant sent = a.now;
  const std::string attempt = a.Attempt();
  a.At(sent + Seconds(3));
  a.ClaimEndsUnknown();
  EXPECT_TRUE(a.IsOut(steps::kRead));
  EXPECT_FALSE(a.IsOut(steps::kTake));
  a.SeesItsOwn(At(Seconds(10)), attempt);
  EXPECT_TRUE(a.HasLock());
  EXPECT_EQ(a.timers.at(kDeadline), sent + Milliseconds(9'990));
}

TEST_F(FencedLeaseAnswerTest, AnOwnAttemptThatIsFoundTooLateIsTakenAnew) {
  const LostClaim claim = TakesAndHearsNothing(a);
  a.At(claim.sent + Milliseconds(9'990));
  const Timestamp theirs = At(Seconds(10));
  a.SeesItsOwn(theirs, claim.attempt);
  EXPECT_FALSE(a.HasLock());
  ASSERT_TRUE(a.IsOut(steps::kTake));
  EXPECT_NE(a.Attempt(), claim.attempt);
  EXPECT_EQ(a.Parameter(steps::kTake, 4), Value(theirs));
}

TEST_F(FencedLeaseAnswerTest, AReplyThatComesAfterItsDeadlineBeginsNoTerm) {
  Follows(a);
  a.Fires(kTake);
  const LocalInstant sent = a.now;
  a.At(sent + Milliseconds(9'990));
  a.sent = sent;
  a.Wins(At(Seconds(11)));
  EXPECT_FALSE(a.HasLock());
  EXPECT_TRUE(a.IsOut(steps::kRead));
}

TEST_F(FencedLeaseAnswerTest, AnUnknownOutcomeThatWasNoneIsTriedAnewUnderAnotherAttempt) {
  const LostClaim claim = TakesAndHearsNothing(a);
  a.Sees(TheirRow());
  ASSERT_TRUE(a.IsOut(steps::kTake));
  EXPECT_NE(a.Attempt(), claim.attempt);
}

TEST_F(FencedLeaseAnswerTest, AnEarlierAttemptThatCommittedLateIsAdoptedToo) {
  // Its Commit was on its way when the row was read back.
  const LostClaim first = TakesAndHearsNothing(a);
  a.Sees(TheirRow());
  a.Loses();
  a.Fires(kPoll);
  a.SeesItsOwn(At(Seconds(11)), first.attempt);
  EXPECT_TRUE(a.HasLock());
  EXPECT_EQ(a.timers.at(kDeadline), first.sent + Milliseconds(9'990));
}

TEST_F(FencedLeaseAnswerTest, ACreateThatIsReadBackWaitsFromTheReadOn) {
  // Nobody knows when it was committed.
  const LostClaim created = CreatesAndHearsNothing(a);
  a.At(Seconds(2));
  a.SeesItsOwn(At(Seconds(1)), created.attempt);
  EXPECT_FALSE(a.HasLock());
  EXPECT_EQ(a.timers.at(kBelieve), ShownAfter(Seconds(2) + kLonger));
}

TEST_F(FencedLeaseAnswerTest, ACreateThatIsFoundTooLateWaitsAllTheSame) {
  const LostClaim created = CreatesAndHearsNothing(a);
  a.At(Seconds(30));
  a.CannotRead();
  a.Fires(kPoll);
  a.SeesItsOwn(At(Seconds(29)), created.attempt);
  a.Wins(At(Seconds(31)));
  EXPECT_FALSE(a.HasLock());
  EXPECT_GE(a.timers.at(kBelieve), ShownAfter(Seconds(30) + kLonger));
}

TEST_F(FencedLeaseAnswerTest, ACreateThatIsFoundWhenItIsForgottenWaitsAllTheSame) {
  // An operator deleted the other's row, and then the CREATE of long ago was committed. The
  // owner of the deleted row may still believe that it leads.
  const LostClaim created = CreatesAndHearsNothing(a);
  a.At(Seconds(30));
  a.Sees(TheirRow());
  a.Fires(kTake);
  a.ClaimEndsUnknown();
  EXPECT_EQ(a.state.unknown.size(), 1u);
  const LocalInstant found = a.now;
  a.SeesItsOwn(a.Clocks().wall, created.attempt);
  a.Wins(a.Clocks().wall);
  EXPECT_FALSE(a.HasLock());
  EXPECT_EQ(a.timers.at(kBelieve), found + kLonger);
}

TEST_F(FencedLeaseAnswerTest, AttemptsOfAnotherProcessAreNeverItsOwn) {
  // 128 random bits for each start, so the same id does not make two processes one.
  a.entropy.next = {1, 2, 3, 4};
  a.Starts();
  EXPECT_EQ(a.state.prefix, "00000001000000020000000300000004");
  TestRow row = TheirRow();
  row.writer = "a";
  row.attempt = "00000001000000020000000300000005-1";
  a.Sees(row);
  EXPECT_FALSE(a.IsOut(steps::kTake));
}

}  // namespace
}  // namespace whorl::fenced_lease::fenced_lease_claim_test
