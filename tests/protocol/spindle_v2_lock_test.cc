// The blocking wrapper: Lock starts the loop and polls, Unlock ends the loop and leaves the row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/spindle_v2/lock.h"
#include "tests/protocol/spindle_v2_testing.h"

namespace whorl::spindle_v2::spindle_v2_lock_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class WrapperTest : public testing::Test {
 protected:
  Wrapper wrapper;
};
using SpindleV2LockTest = WrapperTest;
using SpindleV2UnlockTest = WrapperTest;

constexpr AskId kPoll = 0x7fff;
const Timestamp kMine = At(Seconds(1));
const Timestamp kTheirs = At(Seconds(-3));

const Wrapper::Did& PollHears(Wrapper& wrapper, Timestamp token, const char* writer) {
  wrapper.Polls();
  return wrapper.AnswersRow(token, writer, kPoll);
}

// Lock(1) is under way; the first round has won the absent row, nothing was answered yet.
void LocksAndWins(Wrapper& wrapper) {
  wrapper.Asks(Question::kLock);
  wrapper.SeesNoRow();
  wrapper.Commits(kMine);
}

// Polls until the tick of the second round is due, and lets that round notice the leadership.
void PollsIntoTheSecondRound(Wrapper& wrapper) {
  while (wrapper.timers.at(0xffff) < wrapper.timers.at(0)) {
    ASSERT_THAT(PollHears(wrapper, kMine, "a"), ElementsAre(StartsWith("set poll ")));
  }
  wrapper.TicksAndSees(9'000, kMine);
  wrapper.Commits({});
}

void LocksIntoTheSecondRound(Wrapper& wrapper) {
  LocksAndWins(wrapper);
  PollsIntoTheSecondRound(wrapper);
}

void Locks(Wrapper& wrapper) {
  LocksIntoTheSecondRound(wrapper);
  PollHears(wrapper, kMine, "a");
}

// --- Lock --------------------------------------------------------------------------------------

TEST_F(SpindleV2LockTest, StartsTheLoopAndAsksAtOnce) {
  // The first answer is always no: the loop has not ended a round yet.
  wrapper.At(Seconds(3));
  EXPECT_THAT(wrapper.Asks(Question::kLock),
              ElementsAre("set tick 13s", "set wake 4s", "run check", "set poll 3.5s"));
}

TEST_F(SpindleV2LockTest, AsksEveryHalfSecond) {
  // Half a second from answer to question, so that a slow answer makes it slower.
  LocksAndWins(wrapper);
  wrapper.Polls();
  EXPECT_EQ(wrapper.now, ShownAfter(Milliseconds(500)));
  EXPECT_THAT(wrapper.did, ElementsAre("run has_lock for ask 32767"));
  wrapper.At(Milliseconds(700));
  EXPECT_THAT(wrapper.AnswersRow(kTheirs, "b", kPoll), ElementsAre("set poll 1.2s"));
}

TEST_F(SpindleV2LockTest, NeedsMoreThanOneRoundBesidesTheAnswerYes) {
  // W2: even a free lock is handed out only after the second round, a whole lease later.
  LocksAndWins(wrapper);
  EXPECT_THAT(PollHears(wrapper, kMine, "a"), ElementsAre("set poll 1s"))
      << "yes, but one round only";
  PollsIntoTheSecondRound(wrapper);
  EXPECT_THAT(PollHears(wrapper, kMine, "a"), ElementsAre("Lock yes"));
  EXPECT_EQ(wrapper.now, ShownAfter(Seconds(10)));
}

TEST_F(SpindleV2LockTest, ManyRoundsAloneAreNotEnough) {
  // A follower waits as long as its context lets it.
  wrapper.Asks(Question::kLock);
  wrapper.Sees(500, kTheirs);
  for (int round = 0; round < 3; ++round) {
    wrapper.TicksAndSees(500, kTheirs);
  }
  EXPECT_THAT(PollHears(wrapper, kTheirs, "b"), ElementsAre(StartsWith("set poll ")));
}

TEST_F(SpindleV2LockTest, RoundsAreCountedWhenTheAnswerComes) {
  // HasLock is asked first, Iterations after it: the second round may end while Spanner answers.
  LocksAndWins(wrapper);
  while (wrapper.timers.at(0xffff) < wrapper.timers.at(0)) {
    wrapper.Polls();
    if (wrapper.now == ShownAfter(Milliseconds(9'500))) break;
    wrapper.AnswersRow(kMine, "a", kPoll);
  }
  wrapper.TicksAndSees(9'000, kMine);
  wrapper.Commits({});
  EXPECT_THAT(wrapper.AnswersRow(kMine, "a", kPoll), ElementsAre("Lock yes"));
}

TEST_F(SpindleV2LockTest, AFailedQuestionIsAskedAgain) {
  // HasLock says no on an error, and the wrapper cannot tell.
  LocksAndWins(wrapper);
  wrapper.Polls();
  EXPECT_THAT(wrapper.AnswersError(kPoll), ElementsAre("set poll 1s"));
}

TEST_F(SpindleV2LockTest, PollsNoMoreOnceItHasReturned) {
  // W1: from then on nothing looks whether the lease is still there.
  Locks(wrapper);
  EXPECT_FALSE(wrapper.HasTimer(0xffff));
  EXPECT_TRUE(wrapper.Believes());
  EXPECT_THAT(wrapper.TicksAndSees(500, kTheirs), ElementsAre("callback 0"));
  EXPECT_TRUE(wrapper.Believes()) << "no callback reaches the wrapper's user";
}

TEST_F(SpindleV2LockTest, ASecondLockReturnsAtOnce) {
  // "Lock only once for this instance" upstream: no second loop, no question.
  Locks(wrapper);
  EXPECT_THAT(wrapper.Asks(Question::kLock, 2), ElementsAre("2: Lock yes"));
}

TEST_F(SpindleV2LockTest, BelievesFromLocksReturnToUnlock) {
  // That is the interval in which a user of the wrapper works, whatever the callbacks say.
  LocksIntoTheSecondRound(wrapper);
  EXPECT_FALSE(wrapper.Believes());
  PollHears(wrapper, kMine, "a");
  EXPECT_TRUE(wrapper.Believes());
  wrapper.Asks(Question::kUnlock, 2);
  EXPECT_FALSE(wrapper.Believes());
}

// --- the context ends --------------------------------------------------------------------------

TEST_F(SpindleV2LockTest, ReturnsTheTimeoutErrorHoweverTheContextEnded) {
  // A user who cancelled is told "timeout" as well.
  for (const StopReason reason : {StopReason::kCancelled, StopReason::kDeadline}) {
    wrapper = Wrapper();
    LocksAndWins(wrapper);
    EXPECT_THAT(wrapper.Stops(reason), ElementsAre("cancel tick")) << "seen at the next look";
    EXPECT_THAT(wrapper.Polls(), ElementsAre("Lock no 'timeout'"));
    EXPECT_FALSE(wrapper.HasTimer(0xffff));
    EXPECT_FALSE(wrapper.Believes());
  }
}

TEST_F(SpindleV2LockTest, AQuestionUnderWayIsAwaitedEvenAfterTheContextEnded) {
  // The context is looked at before each question only: a black-holed read holds Lock up.
  LocksAndWins(wrapper);
  wrapper.Polls();
  wrapper.Stops(StopReason::kDeadline);
  EXPECT_THAT(wrapper.AnswersRow(kTheirs, "b", kPoll), ElementsAre("set poll 1s"));
  EXPECT_THAT(wrapper.Polls(), ElementsAre("Lock no 'timeout'"));
}

TEST_F(SpindleV2LockTest, AYesThatWasUnderWayStillLocks) {
  // Lock can return without error although its context is over, and its loop with it.
  LocksIntoTheSecondRound(wrapper);
  wrapper.Polls();
  wrapper.Stops(StopReason::kDeadline);
  EXPECT_THAT(wrapper.AnswersRow(kMine, "a", kPoll), ElementsAre("Lock yes"));
}

TEST_F(SpindleV2LockTest, ALockThatTimedOutByADeadlineHeartbeatsOn) {
  // W3: S9 through the front door; the lock is blocked, and its user was told "timeout".
  LocksIntoTheSecondRound(wrapper);
  wrapper.Stops(StopReason::kDeadline);
  EXPECT_THAT(wrapper.Polls(), ElementsAre("Lock no 'timeout'"));
  EXPECT_THAT(wrapper.Wakes(), ElementsAre("run heartbeat_update"));
  wrapper.BeatCommits();
  EXPECT_THAT(wrapper.Wakes(), ElementsAre("run heartbeat_update"));
}

TEST_F(SpindleV2LockTest, ALockThatWasCancelledStopsHeartbeating) {
  // The other half of the same code.
  LocksIntoTheSecondRound(wrapper);
  wrapper.Stops(StopReason::kCancelled);
  wrapper.Polls();
  EXPECT_THAT(wrapper.Wakes(), IsEmpty());
}

TEST_F(SpindleV2LockTest, ALockAfterATimeoutRunsAnew) {
  // A new context, a new Run beside what is left of the old one.
  LocksAndWins(wrapper);
  wrapper.Stops(StopReason::kDeadline);
  wrapper.Polls();
  EXPECT_THAT(wrapper.Asks(Question::kLock, 2),
              ElementsAre("set tick of run 1 10.5s", "set wake of run 1 1.5s", "run check of run 1",
                          "set poll 1s"));
  EXPECT_THAT(wrapper.Polls(), ElementsAre("set poll 1.5s")) << "the new context has not ended";
}

TEST_F(SpindleV2UnlockTest, EndsTheLoopAndLeavesTheRow) {
  // The next owner waits the whole lease out, as after a crash.
  Locks(wrapper);
  EXPECT_THAT(wrapper.Asks(Question::kUnlock, 2), ElementsAre("cancel tick", "2: Unlock yes"));
  EXPECT_TRUE(wrapper.running.empty()) << "nothing is sent to Spanner";
}

TEST_F(SpindleV2UnlockTest, WaitsForTheMainLoopOnly) {
  // A round in flight goes on after Unlock has returned.
  Locks(wrapper);
  wrapper.Ticks();
  EXPECT_THAT(wrapper.Asks(Question::kUnlock, 2), Contains("2: Unlock yes"));
  EXPECT_THAT(wrapper.Sees(5'000, kMine), ElementsAre("callback 1"));
  EXPECT_TRUE(wrapper.state.spindle.active);
}

TEST_F(SpindleV2UnlockTest, OfWhatIsNotLockedDoesNothingAndIsNoError) {
  // Also after a Lock that timed out: its loop is not cancelled by Unlock (W3 stays).
  EXPECT_THAT(wrapper.Asks(Question::kUnlock), ElementsAre("Unlock yes"));
  LocksIntoTheSecondRound(wrapper);
  wrapper.Stops(StopReason::kDeadline);
  wrapper.Polls();
  EXPECT_THAT(wrapper.Asks(Question::kUnlock, 2), ElementsAre("2: Unlock yes"));
  EXPECT_THAT(wrapper.Wakes(), ElementsAre("run heartbeat_update"));
}

TEST_F(SpindleV2UnlockTest, CannotCancelAContextThatADeadlineHasEnded) {
  // Lock succeeded, its context ran out while the user worked, and Unlock came too late: the
  // heartbeats go on for good.
  Locks(wrapper);
  wrapper.Stops(StopReason::kDeadline);
  EXPECT_THAT(wrapper.Asks(Question::kUnlock, 2), ElementsAre("2: Unlock yes"));
  EXPECT_THAT(wrapper.Wakes(), ElementsAre("run heartbeat_update"));
}

TEST_F(SpindleV2UnlockTest, AfterItLockComesAsSoonAsTheFirstRoundFindsItsToken) {
  // Token and rounds are the instance's and are kept: the second Lock is half a second, not a
  // lease.
  Locks(wrapper);
  wrapper.Asks(Question::kUnlock, 2);
  wrapper.Wakes();
  wrapper.At(Seconds(11));
  EXPECT_THAT(wrapper.Asks(Question::kLock, 3),
              ElementsAre("set tick 21s", "set wake 12s", "run check", "set poll 11.5s"));
  wrapper.Sees(1'000, kMine);
  wrapper.Commits({});
  EXPECT_THAT(PollHears(wrapper, kMine, "a"), ElementsAre("3: Lock yes"));
  EXPECT_EQ(wrapper.now, ShownAfter(Milliseconds(11'500)));
}

TEST_F(SpindleV2LockTest, StartedDoesNothing) {
  // The wrapper's loop begins with Lock.
  EXPECT_THAT(wrapper.Starts(), IsEmpty());
  EXPECT_EQ(wrapper.state, LockState());
}

TEST_F(SpindleV2LockTest, AUsersOwnQuestionsGoThrough) {
  // HasLock of the instance inside; its answers must not be taken for the poll's.
  LocksAndWins(wrapper);
  wrapper.Asks(Question::kHasLock, 5);
  wrapper.Polls();
  EXPECT_THAT(wrapper.AnswersRow(kMine, "a", 5), ElementsAre(StartsWith("5: HasLock yes")));
  EXPECT_THAT(wrapper.AnswersRow(kMine, "a", kPoll), Not(Contains(StartsWith("answer"))));
}

}  // namespace
}  // namespace whorl::spindle_v2::spindle_v2_lock_test
