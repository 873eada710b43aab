// The blocking wrapper: Lock starts the loop and polls, Unlock ends the loop and leaves the row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "protocol/spindle_v2/lock.h"
#include "tests/protocol/spindle_v2_testing.h"

namespace whorl::spindle_v2::spindle_v2_lock_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr AskId kPoll = 0x7fff;
const Timestamp kMine = At(Seconds(1));
const Timestamp kTheirs = At(Seconds(-3));

// Lock(1) is under way; the first round has won the absent row, nothing was answered yet.
void LocksAndWins(Wrapper& wrapper) {
  wrapper.Asks(Question::kLock);
  wrapper.SeesNoRow();
  wrapper.Commits(kMine);
}

// Polls until the tick of the second round is due, and lets that round notice the leadership.
void PollsIntoTheSecondRound(Wrapper& wrapper) {
  while (wrapper.timers.at(0xffff) < wrapper.timers.at(0)) {
    wrapper.Polls();
    wrapper.AnswersRow(kPoll, kMine, std::string("a"));
    ASSERT_THAT(wrapper.did, ElementsAre(StartsWith("set poll ")));
  }
  wrapper.Ticks();
  wrapper.Sees(int64_t{9'000}, kMine);
  wrapper.Commits({});
}

void Locks(Wrapper& wrapper) {
  LocksAndWins(wrapper);
  PollsIntoTheSecondRound(wrapper);
  wrapper.Polls();
  wrapper.AnswersRow(kPoll, kMine, std::string("a"));
}

// --- Lock --------------------------------------------------------------------------------------

TEST(SpindleV2LockTest, StartsTheLoopAndAsksAtOnce) {
  // The first answer is always no: the loop has not ended a round yet.
  Wrapper wrapper;
  wrapper.At(Seconds(3));
  wrapper.Asks(Question::kLock);
  EXPECT_THAT(wrapper.did,
              ElementsAre("set tick 13s", "set wake 4s", "run check", "set poll 3.5s"));
}

TEST(SpindleV2LockTest, AsksEveryHalfSecond) {
  // Half a second from answer to question, so that a slow answer makes it slower.
  Wrapper wrapper;
  LocksAndWins(wrapper);
  wrapper.Polls();
  EXPECT_EQ(wrapper.now, ShownAfter(Milliseconds(500)));
  EXPECT_THAT(wrapper.did, ElementsAre("run has_lock for ask 32767"));
  wrapper.At(Milliseconds(700));
  wrapper.AnswersRow(kPoll, kTheirs, std::string("b"));
  EXPECT_THAT(wrapper.did, ElementsAre("set poll 1.2s"));
}

TEST(SpindleV2LockTest, NeedsMoreThanOneRoundBesidesTheAnswerYes) {
  // W2: even a free lock is handed out only after the second round, a whole lease later.
  Wrapper wrapper;
  LocksAndWins(wrapper);
  wrapper.Polls();
  wrapper.AnswersRow(kPoll, kMine, std::string("a"));
  EXPECT_THAT(wrapper.did, ElementsAre("set poll 1s")) << "yes, but one round only";
  PollsIntoTheSecondRound(wrapper);
  wrapper.Polls();
  wrapper.AnswersRow(kPoll, kMine, std::string("a"));
  EXPECT_THAT(wrapper.did, ElementsAre("answer 1 Lock yes"));
  EXPECT_EQ(wrapper.now, ShownAfter(Seconds(10)));
}

TEST(SpindleV2LockTest, ManyRoundsAloneAreNotEnough) {
  // A follower waits as long as its context lets it.
  Wrapper wrapper;
  wrapper.Asks(Question::kLock);
  wrapper.Sees(int64_t{500}, kTheirs);
  for (int round = 0; round < 3; ++round) {
    wrapper.Ticks();
    wrapper.Sees(int64_t{500}, kTheirs);
  }
  wrapper.Polls();
  wrapper.AnswersRow(kPoll, kTheirs, std::string("b"));
  EXPECT_THAT(wrapper.did, ElementsAre(StartsWith("set poll ")));
}

TEST(SpindleV2LockTest, RoundsAreCountedWhenTheAnswerComes) {
  // HasLock is asked first, Iterations after it: the second round may end while Spanner answers.
  Wrapper wrapper;
  LocksAndWins(wrapper);
  while (wrapper.timers.at(0xffff) < wrapper.timers.at(0)) {
    wrapper.Polls();
    if (wrapper.now == ShownAfter(Milliseconds(9'500))) break;
    wrapper.AnswersRow(kPoll, kMine, std::string("a"));
  }
  wrapper.Ticks();
  wrapper.Sees(int64_t{9'000}, kMine);
  wrapper.Commits({});
  wrapper.AnswersRow(kPoll, kMine, std::string("a"));
  EXPECT_THAT(wrapper.did, ElementsAre("answer 1 Lock yes"));
}

TEST(SpindleV2LockTest, AFailedQuestionIsAskedAgain) {
  // HasLock says no on an error, and the wrapper cannot tell.
  Wrapper wrapper;
  LocksAndWins(wrapper);
  wrapper.Polls();
  wrapper.AnswersError(kPoll);
  EXPECT_THAT(wrapper.did, ElementsAre("set poll 1s"));
}

TEST(SpindleV2LockTest, PollsNoMoreOnceItHasReturned) {
  // W1: from then on nothing looks whether the lease is still there.
  Wrapper wrapper;
  Locks(wrapper);
  EXPECT_FALSE(wrapper.HasTimer(0xffff));
  EXPECT_TRUE(StandingOf(wrapper.state).believes);
  wrapper.Ticks();
  wrapper.Sees(int64_t{500}, kTheirs);
  EXPECT_THAT(wrapper.did, ElementsAre("callback 0"));
  EXPECT_TRUE(StandingOf(wrapper.state).believes) << "no callback reaches the wrapper's user";
}

TEST(SpindleV2LockTest, ASecondLockReturnsAtOnce) {
  // "Lock only once for this instance" upstream: no second loop, no question.
  Wrapper wrapper;
  Locks(wrapper);
  wrapper.Asks(Question::kLock, 2);
  EXPECT_THAT(wrapper.did, ElementsAre("answer 2 Lock yes"));
}

TEST(SpindleV2LockTest, BelievesFromLocksReturnToUnlock) {
  // That is the interval in which a user of the wrapper works, whatever the callbacks say.
  Wrapper wrapper;
  LocksAndWins(wrapper);
  PollsIntoTheSecondRound(wrapper);
  EXPECT_FALSE(StandingOf(wrapper.state).believes);
  wrapper.Polls();
  wrapper.AnswersRow(kPoll, kMine, std::string("a"));
  EXPECT_TRUE(StandingOf(wrapper.state).believes);
  wrapper.Asks(Question::kUnlock, 2);
  EXPECT_FALSE(StandingOf(wrapper.state).believes);
}

// --- the context ends --------------------------------------------------------------------------

TEST(SpindleV2LockTest, ReturnsTheTimeoutErrorHoweverTheContextEnded) {
  // A user who cancelled is told "timeout" as well.
  for (const StopReason reason : {StopReason::kCancelled, StopReason::kDeadline}) {
    Wrapper wrapper;
    LocksAndWins(wrapper);
    wrapper.Stops(reason);
    EXPECT_THAT(wrapper.did, ElementsAre("cancel tick")) << "seen at the next look";
    wrapper.Polls();
    EXPECT_THAT(wrapper.did, ElementsAre("answer 1 Lock no 'timeout'"));
    EXPECT_FALSE(wrapper.HasTimer(0xffff));
    EXPECT_FALSE(StandingOf(wrapper.state).believes);
  }
}

TEST(SpindleV2LockTest, AQuestionUnderWayIsAwaitedEvenAfterTheContextEnded) {
  // The context is looked at before each question only: a black-holed read holds Lock up.
  Wrapper wrapper;
  LocksAndWins(wrapper);
  wrapper.Polls();
  wrapper.Stops(StopReason::kDeadline);
  wrapper.AnswersRow(kPoll, kTheirs, std::string("b"));
  EXPECT_THAT(wrapper.did, ElementsAre("set poll 1s"));
  wrapper.Polls();
  EXPECT_THAT(wrapper.did, ElementsAre("answer 1 Lock no 'timeout'"));
}

TEST(SpindleV2LockTest, AYesThatWasUnderWayStillLocks) {
  // Lock can return without error although its context is over, and its loop with it.
  Wrapper wrapper;
  LocksAndWins(wrapper);
  PollsIntoTheSecondRound(wrapper);
  wrapper.Polls();
  wrapper.Stops(StopReason::kDeadline);
  wrapper.AnswersRow(kPoll, kMine, std::string("a"));
  EXPECT_THAT(wrapper.did, ElementsAre("answer 1 Lock yes"));
}

TEST(SpindleV2LockTest, ALockThatTimedOutByADeadlineHeartbeatsOn) {
  // W3: S9 through the front door; the lock is blocked, and its user was told "timeout".
  Wrapper wrapper;
  LocksAndWins(wrapper);
  PollsIntoTheSecondRound(wrapper);
  wrapper.Stops(StopReason::kDeadline);
  wrapper.Polls();
  EXPECT_THAT(wrapper.did, ElementsAre("answer 1 Lock no 'timeout'"));
  wrapper.Wakes();
  EXPECT_THAT(wrapper.did, ElementsAre("run heartbeat_update"));
  wrapper.BeatCommits();
  wrapper.Wakes();
  EXPECT_THAT(wrapper.did, ElementsAre("run heartbeat_update"));
}

TEST(SpindleV2LockTest, ALockThatWasCancelledStopsHeartbeating) {
  // The other half of the same code.
  Wrapper wrapper;
  LocksAndWins(wrapper);
  PollsIntoTheSecondRound(wrapper);
  wrapper.Stops(StopReason::kCancelled);
  wrapper.Polls();
  wrapper.Wakes();
  EXPECT_THAT(wrapper.did, IsEmpty());
}

TEST(SpindleV2LockTest, ALockAfterATimeoutRunsAnew) {
  // A new context, a new Run beside what is left of the old one.
  Wrapper wrapper;
  LocksAndWins(wrapper);
  wrapper.Stops(StopReason::kDeadline);
  wrapper.Polls();
  wrapper.Asks(Question::kLock, 2);
  EXPECT_THAT(wrapper.did, ElementsAre("set tick of run 1 10.5s", "set wake of run 1 1.5s",
                                       "run check of run 1", "set poll 1s"));
  wrapper.Polls();
  EXPECT_THAT(wrapper.did, ElementsAre("set poll 1.5s")) << "the new context has not ended";
}

// --- Unlock ------------------------------------------------------------------------------------

TEST(SpindleV2UnlockTest, EndsTheLoopAndLeavesTheRow) {
  // The next owner waits the whole lease out, as after a crash.
  Wrapper wrapper;
  Locks(wrapper);
  wrapper.Asks(Question::kUnlock, 2);
  EXPECT_THAT(wrapper.did, ElementsAre("cancel tick", "answer 2 Unlock yes"));
  EXPECT_TRUE(wrapper.running.empty()) << "nothing is sent to Spanner";
}

TEST(SpindleV2UnlockTest, WaitsForTheMainLoopOnly) {
  // A round in flight goes on after Unlock has returned.
  Wrapper wrapper;
  Locks(wrapper);
  wrapper.Ticks();
  wrapper.Asks(Question::kUnlock, 2);
  EXPECT_THAT(wrapper.did, Contains("answer 2 Unlock yes"));
  wrapper.Sees(int64_t{5'000}, kMine);
  EXPECT_THAT(wrapper.did, ElementsAre("callback 1"));
  EXPECT_TRUE(wrapper.state.spindle.active);
}

TEST(SpindleV2UnlockTest, OfWhatIsNotLockedDoesNothingAndIsNoError) {
  // Also after a Lock that timed out: its loop is not cancelled by Unlock (W3 stays).
  Wrapper wrapper;
  wrapper.Asks(Question::kUnlock);
  EXPECT_THAT(wrapper.did, ElementsAre("answer 1 Unlock yes"));
  LocksAndWins(wrapper);
  PollsIntoTheSecondRound(wrapper);
  wrapper.Stops(StopReason::kDeadline);
  wrapper.Polls();
  wrapper.Asks(Question::kUnlock, 2);
  EXPECT_THAT(wrapper.did, ElementsAre("answer 2 Unlock yes"));
  wrapper.Wakes();
  EXPECT_THAT(wrapper.did, ElementsAre("run heartbeat_update"));
}

TEST(SpindleV2UnlockTest, CannotCancelAContextThatADeadlineHasEnded) {
  // Lock succeeded, its context ran out while the user worked, and Unlock came too late: the
  // heartbeats go on for good.
  Wrapper wrapper;
  Locks(wrapper);
  wrapper.Stops(StopReason::kDeadline);
  wrapper.Asks(Question::kUnlock, 2);
  EXPECT_THAT(wrapper.did, ElementsAre("answer 2 Unlock yes"));
  wrapper.Wakes();
  EXPECT_THAT(wrapper.did, ElementsAre("run heartbeat_update"));
}

TEST(SpindleV2UnlockTest, AfterItLockComesAsSoonAsTheFirstRoundFindsItsToken) {
  // Token and rounds are the instance's and are kept: the second Lock is half a second, not a
  // lease.
  Wrapper wrapper;
  Locks(wrapper);
  wrapper.Asks(Question::kUnlock, 2);
  wrapper.Wakes();
  wrapper.At(Seconds(11));
  wrapper.Asks(Question::kLock, 3);
  EXPECT_THAT(wrapper.did,
              ElementsAre("set tick 21s", "set wake 12s", "run check", "set poll 11.5s"));
  wrapper.Sees(int64_t{1'000}, kMine);
  wrapper.Commits({});
  wrapper.Polls();
  wrapper.AnswersRow(kPoll, kMine, std::string("a"));
  EXPECT_THAT(wrapper.did, ElementsAre("answer 3 Lock yes"));
  EXPECT_EQ(wrapper.now, ShownAfter(Milliseconds(11'500)));
}

// --- the rest is the spindle's -----------------------------------------------------------------

TEST(SpindleV2LockTest, StartedDoesNothing) {
  // The wrapper's loop begins with Lock.
  Wrapper wrapper;
  wrapper.Starts();
  EXPECT_THAT(wrapper.did, IsEmpty());
  EXPECT_EQ(wrapper.state, LockState());
}

TEST(SpindleV2LockTest, AUsersOwnQuestionsGoThrough) {
  // HasLock of the instance inside; its answers must not be taken for the poll's.
  Wrapper wrapper;
  LocksAndWins(wrapper);
  wrapper.Asks(Question::kHasLock, 5);
  wrapper.Polls();
  wrapper.AnswersRow(5, kMine, std::string("a"));
  EXPECT_THAT(wrapper.did, ElementsAre(StartsWith("answer 5 HasLock yes")));
  wrapper.AnswersRow(kPoll, kMine, std::string("a"));
  EXPECT_THAT(wrapper.did, Not(Contains(StartsWith("answer"))));
}

TEST(SpindleV2LockTest, ACopyThatTakesTheSameEventsStaysEqual) {
  // The wrapper's state is part of the world's.
  Wrapper original;
  LocksAndWins(original);
  Wrapper copy = original;
  for (Wrapper* wrapper : {&original, &copy}) {
    PollsIntoTheSecondRound(*wrapper);
    wrapper->Stops(StopReason::kDeadline);
  }
  EXPECT_EQ(original.state, copy.state);
  EXPECT_EQ(original.effects, copy.effects);
}

}  // namespace
}  // namespace whorl::spindle_v2::spindle_v2_lock_test
