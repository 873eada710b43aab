// What spindle_v2 answers to its users: HasLock, HasLock2, Leader, Duration, Iterations, before the
// loop runs, while it runs and after it was stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/spindle_v2/spindle_v2.h"
#include "tests/protocol/spindle_v2_testing.h"

namespace whorl::spindle_v2::spindle_v2_questions_test {
namespace {

using testing::ElementsAre;

using SpindleV2QuestionTest = SpindleTest;
using SpindleV2HasLockTest = SpindleTest;
using SpindleV2HasLock2Test = SpindleTest;
using SpindleV2LeaderQuestionTest = SpindleTest;

const Timestamp kMine = At(Duration{});           // hash 14098415059675736591
const Timestamp kTheirs = At(Milliseconds(500));  // hash 4534056637851642752

// --- when it does not run ----------------------------------------------------------------------

TEST_F(SpindleV2QuestionTest, NotRunningIsAnsweredWithoutAskingSpanner) {
  // Nothing is known before the first round has ended; a read would only cost.
  for (const bool started : {false, true}) {
    if (started) spindle.Starts();
    EXPECT_THAT(spindle.Asks(Question::kHasLock), ElementsAre("HasLock no"));
    EXPECT_THAT(spindle.Asks(Question::kHasLock2), ElementsAre("HasLock2 no"));
    EXPECT_THAT(spindle.Asks(Question::kLeader), ElementsAre("Leader no 'spindle: not running'"));
  }
}

TEST_F(SpindleV2QuestionTest, AfterAStopItDoesNotRunAgain) {
  // Its lease may still be live in the table: it says no all the same.
  Leads(spindle, kMine);
  spindle.Stops();
  EXPECT_THAT(spindle.Asks(Question::kHasLock), ElementsAre("HasLock no"));
  EXPECT_THAT(spindle.Asks(Question::kLeader), ElementsAre("Leader no 'spindle: not running'"));
}

TEST_F(SpindleV2QuestionTest, DurationAndIterationsAreAnsweredAtAnyTime) {
  // They are fields: the raised lease in milliseconds, and the rounds that have ended.
  spindle = Spindle(MakeTestConfig(Milliseconds(10)));
  EXPECT_THAT(spindle.Asks(Question::kDuration), ElementsAre("Duration yes 1000"));
  EXPECT_THAT(spindle.Asks(Question::kIterations), ElementsAre("Iterations yes"));
  Leads(spindle, kMine);
  EXPECT_THAT(spindle.Asks(Question::kIterations), ElementsAre("Iterations yes 2"));
  spindle.Stops();
  EXPECT_THAT(spindle.Asks(Question::kIterations), ElementsAre("Iterations yes 2"));
}

TEST_F(SpindleV2HasLockTest, AsksSpannerEachTime) {
  // No belief is kept between two questions: that is what makes the answer true
  // (has_lock_truthful).
  Leads(spindle, kMine);
  EXPECT_THAT(spindle.Asks(Question::kHasLock, 4), ElementsAre("run has_lock for ask 4"));
  EXPECT_THAT(spindle.AnswersRow(kMine, "a", 4),
              ElementsAre("4: HasLock yes token=14098415059675736591"));
}

TEST_F(SpindleV2HasLockTest, IsTrueFromTheWinOnNotOnlyFromTheCallback) {
  // One period before callback(1) a user who asks is told yes.
  WinsFirst(spindle, kMine);
  spindle.Asks(Question::kHasLock);
  EXPECT_THAT(spindle.AnswersRow(kMine, "a"),
              ElementsAre("HasLock yes token=14098415059675736591"));
}

TEST_F(SpindleV2HasLockTest, IsFalseUnlessTheRowHasItsOwnToken) {
  Leads(spindle, kMine);
  const auto asks = [&]() -> Spindle& {
    spindle.Asks(Question::kHasLock);
    return spindle;
  };
  // Another's token is handed out all the same: a user who does not look at the yes would fence
  // with it.
  EXPECT_THAT(asks().AnswersRow(kTheirs, "b"), ElementsAre("HasLock no token=4534056637851642752"));
  // The deletion of the row took the lock away.
  EXPECT_THAT(asks().AnswersNoRow(), ElementsAre("HasLock no token=17241709254077376921"));
  // A NULL token: the hash of Go's zero time, which nobody owns.
  EXPECT_THAT(asks().AnswersRow(Null{}, Null{}),
              ElementsAre("HasLock no token=6935757474513069070"));
  // Not knowing is answered no, too; the user cannot tell the two apart.
  EXPECT_THAT(asks().AnswersError(), ElementsAre("HasLock no"));
}

TEST_F(SpindleV2HasLockTest, IsJudgedByTheTokenThatIsOwnWhenTheAnswerComes) {
  // The own token is read after the row: a takeover that ended in between counts.
  Follows(spindle, kTheirs);
  spindle.Ticks();
  spindle.Asks(Question::kHasLock);
  spindle.SeesNoRow();
  spindle.Commits(kMine);
  EXPECT_THAT(spindle.AnswersRow(kMine, "a"),
              ElementsAre("HasLock yes token=14098415059675736591"));
}

TEST_F(SpindleV2HasLockTest, QuestionsOfSeveralUsersDoNotMix) {
  // Each has its own read, and they may be answered in any order.
  Leads(spindle, kMine);
  spindle.Asks(Question::kHasLock, 1);
  spindle.Asks(Question::kLeader, 2);
  spindle.Asks(Question::kHasLock2, 3);
  EXPECT_THAT(spindle.AnswersRow(kTheirs, "b", 3),
              ElementsAre("3: HasLock2 no token=4534056637851642752 'b'"));
  EXPECT_THAT(spindle.AnswersRow(kMine, "a", 1),
              ElementsAre("1: HasLock yes token=14098415059675736591"));
  EXPECT_THAT(spindle.AnswersRow(kMine, "a", 2), ElementsAre("2: Leader yes 'a'"));
  EXPECT_TRUE(spindle.state.asks.empty());
}

TEST_F(SpindleV2HasLockTest, AQuestionUnderWayIsAnsweredAfterAStopToo) {
  // Only the start of a question looks at whether the loop runs.
  Leads(spindle, kMine);
  spindle.Asks(Question::kHasLock);
  spindle.Stops();
  EXPECT_THAT(spindle.AnswersRow(kMine, "a"),
              ElementsAre("HasLock yes token=14098415059675736591"));
}

TEST_F(SpindleV2HasLock2Test, AddsTheWriter) {
  // One read for both answers, so that they belong together. No writer is the empty name.
  Leads(spindle, kMine);
  spindle.Asks(Question::kHasLock2);
  EXPECT_THAT(spindle.AnswersRow(kMine, "a"),
              ElementsAre("HasLock2 yes token=14098415059675736591 'a'"));
  spindle.Asks(Question::kHasLock2);
  EXPECT_THAT(spindle.AnswersRow(kTheirs, Null{}),
              ElementsAre("HasLock2 no token=4534056637851642752"));
  spindle.Asks(Question::kHasLock2);
  EXPECT_THAT(spindle.AnswersError(), ElementsAre("HasLock2 no"));
}

TEST_F(SpindleV2LeaderQuestionTest, IsTheLastWriterEvenOfADeadLease) {
  Follows(spindle, kTheirs);
  // It does not ask for the age: a leader that died an hour ago is still named.
  spindle.Asks(Question::kLeader);
  EXPECT_THAT(spindle.AnswersRow(kTheirs, "long gone"), ElementsAre("Leader yes 'long gone'"));
  // Of an absent row it is the empty name, and no error, upstream.
  spindle.Asks(Question::kLeader);
  EXPECT_THAT(spindle.AnswersNoRow(), ElementsAre("Leader yes"));
  // The only question whose error reaches the user.
  spindle.Asks(Question::kLeader);
  EXPECT_THAT(spindle.AnswersError(), ElementsAre("Leader no 'INTERNAL: lost'"));
}

}  // namespace
}  // namespace whorl::spindle_v2::spindle_v2_questions_test
