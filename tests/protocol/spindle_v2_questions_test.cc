// What spindle_v2 answers to its users: HasLock, HasLock2, Leader, Duration, Iterations, before the
// loop runs, while it runs and after it was stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "protocol/spindle_v2/spindle_v2.h"
#include "tests/protocol/spindle_v2_testing.h"

namespace whorl::spindle_v2::spindle_v2_questions_test {
namespace {

using testing::ElementsAre;

const Timestamp kMine = At(Duration{});           // hash 14098415059675736591
const Timestamp kTheirs = At(Milliseconds(500));  // hash 4534056637851642752

// --- when it does not run ----------------------------------------------------------------------

TEST(SpindleV2QuestionTest, NotRunningIsAnsweredWithoutAskingSpanner) {
  // Nothing is known before the first round has ended; a read would only cost.
  Spindle spindle;
  for (const bool started : {false, true}) {
    if (started) spindle.Starts();
    spindle.Asks(Question::kHasLock);
    EXPECT_THAT(spindle.did, ElementsAre("answer 1 HasLock no"));
    spindle.Asks(Question::kHasLock2);
    EXPECT_THAT(spindle.did, ElementsAre("answer 1 HasLock2 no"));
    spindle.Asks(Question::kLeader);
    EXPECT_THAT(spindle.did, ElementsAre("answer 1 Leader no 'spindle: not running'"));
  }
}

TEST(SpindleV2QuestionTest, AfterAStopItDoesNotRunAgain) {
  // Its lease may still be live in the table: it says no all the same.
  Spindle spindle;
  Leads(spindle, kMine);
  spindle.Stops();
  spindle.Asks(Question::kHasLock);
  EXPECT_THAT(spindle.did, ElementsAre("answer 1 HasLock no"));
  spindle.Asks(Question::kLeader);
  EXPECT_THAT(spindle.did, ElementsAre("answer 1 Leader no 'spindle: not running'"));
}

TEST(SpindleV2QuestionTest, DurationAndIterationsAreAnsweredAtAnyTime) {
  // They are fields: the raised lease in milliseconds, and the rounds that have ended.
  Spindle spindle(MakeTestConfig(Milliseconds(10)));
  spindle.Asks(Question::kDuration);
  EXPECT_THAT(spindle.did, ElementsAre("answer 1 Duration yes 1000"));
  spindle.Asks(Question::kIterations);
  EXPECT_THAT(spindle.did, ElementsAre("answer 1 Iterations yes"));
  Leads(spindle, kMine);
  spindle.Asks(Question::kIterations);
  EXPECT_THAT(spindle.did, ElementsAre("answer 1 Iterations yes 2"));
  spindle.Stops();
  spindle.Asks(Question::kIterations);
  EXPECT_THAT(spindle.did, ElementsAre("answer 1 Iterations yes 2"));
}

// --- HasLock -----------------------------------------------------------------------------------

TEST(SpindleV2HasLockTest, AsksSpannerEachTime) {
  // No belief is kept between two questions: that is what makes the answer true
  // (has_lock_truthful).
  Spindle spindle;
  Leads(spindle, kMine);
  spindle.Asks(Question::kHasLock, 4);
  EXPECT_THAT(spindle.did, ElementsAre("run has_lock for ask 4"));
  spindle.AnswersRow(4, kMine, std::string("a"));
  EXPECT_THAT(spindle.did, ElementsAre("answer 4 HasLock yes token=14098415059675736591"));
}

TEST(SpindleV2HasLockTest, IsTrueFromTheWinOnNotOnlyFromTheCallback) {
  // One period before callback(1) a user who asks is told yes.
  Spindle spindle;
  WinsFirst(spindle, kMine);
  spindle.Asks(Question::kHasLock);
  spindle.AnswersRow(1, kMine, std::string("a"));
  EXPECT_THAT(spindle.did, ElementsAre("answer 1 HasLock yes token=14098415059675736591"));
}

TEST(SpindleV2HasLockTest, IsFalseForAnothersTokenWhichItHandsOutAllTheSame) {
  // The token of "no" is the other's: a user who does not look at the yes would fence with it.
  Spindle spindle;
  Leads(spindle, kMine);
  spindle.Asks(Question::kHasLock);
  spindle.AnswersRow(1, kTheirs, std::string("b"));
  EXPECT_THAT(spindle.did, ElementsAre("answer 1 HasLock no token=4534056637851642752"));
}

TEST(SpindleV2HasLockTest, IsFalseForAnAbsentRow) {
  // Whoever deleted the row took the lock away.
  Spindle spindle;
  Leads(spindle, kMine);
  spindle.Asks(Question::kHasLock);
  spindle.AnswersNoRow(1);
  EXPECT_THAT(spindle.did, ElementsAre("answer 1 HasLock no token=17241709254077376921"));
}

TEST(SpindleV2HasLockTest, IsFalseForANullToken) {
  // The hash of Go's zero time, which nobody owns.
  Spindle spindle;
  Leads(spindle, kMine);
  spindle.Asks(Question::kHasLock);
  spindle.AnswersRow(1, Null{}, Null{});
  EXPECT_THAT(spindle.did, ElementsAre("answer 1 HasLock no token=6935757474513069070"));
}

TEST(SpindleV2HasLockTest, IsFalseOnAnErrorWithoutAToken) {
  // Not knowing is answered no; the user cannot tell the two apart.
  Spindle spindle;
  Leads(spindle, kMine);
  spindle.Asks(Question::kHasLock);
  spindle.AnswersError(1);
  EXPECT_THAT(spindle.did, ElementsAre("answer 1 HasLock no"));
}

TEST(SpindleV2HasLockTest, IsJudgedByTheTokenThatIsOwnWhenTheAnswerComes) {
  // The own token is read after the row: a takeover that ended in between counts.
  Spindle spindle;
  Follows(spindle, kTheirs);
  spindle.Ticks();
  spindle.Asks(Question::kHasLock);
  spindle.SeesNoRow();
  spindle.Commits(kMine);
  spindle.AnswersRow(1, kMine, std::string("a"));
  EXPECT_THAT(spindle.did, ElementsAre("answer 1 HasLock yes token=14098415059675736591"));
}

TEST(SpindleV2HasLockTest, QuestionsOfSeveralUsersDoNotMix) {
  // Each has its own read, and they may be answered in any order.
  Spindle spindle;
  Leads(spindle, kMine);
  spindle.Asks(Question::kHasLock, 1);
  spindle.Asks(Question::kLeader, 2);
  spindle.Asks(Question::kHasLock2, 3);
  spindle.AnswersRow(3, kTheirs, std::string("b"));
  EXPECT_THAT(spindle.did, ElementsAre("answer 3 HasLock2 no token=4534056637851642752 'b'"));
  spindle.AnswersRow(1, kMine, std::string("a"));
  EXPECT_THAT(spindle.did, ElementsAre("answer 1 HasLock yes token=14098415059675736591"));
  spindle.AnswersRow(2, kMine, std::string("a"));
  EXPECT_THAT(spindle.did, ElementsAre("answer 2 Leader yes 'a'"));
  EXPECT_TRUE(spindle.state.asks.empty());
}

TEST(SpindleV2HasLockTest, AQuestionUnderWayIsAnsweredAfterAStopToo) {
  // Only the start of a question looks at whether the loop runs.
  Spindle spindle;
  Leads(spindle, kMine);
  spindle.Asks(Question::kHasLock);
  spindle.Stops();
  spindle.AnswersRow(1, kMine, std::string("a"));
  EXPECT_THAT(spindle.did, ElementsAre("answer 1 HasLock yes token=14098415059675736591"));
}

// --- HasLock2 and Leader -----------------------------------------------------------------------

TEST(SpindleV2HasLock2Test, AddsTheWriter) {
  // One read for both answers, so that they belong together.
  Spindle spindle;
  Leads(spindle, kMine);
  spindle.Asks(Question::kHasLock2);
  spindle.AnswersRow(1, kMine, std::string("a"));
  EXPECT_THAT(spindle.did, ElementsAre("answer 1 HasLock2 yes token=14098415059675736591 'a'"));
}

TEST(SpindleV2HasLock2Test, IsEmptyOnAnErrorAndForANullWriter) {
  // No writer is the empty name.
  Spindle spindle;
  Leads(spindle, kMine);
  spindle.Asks(Question::kHasLock2);
  spindle.AnswersError(1);
  EXPECT_THAT(spindle.did, ElementsAre("answer 1 HasLock2 no"));
  spindle.Asks(Question::kHasLock2);
  spindle.AnswersRow(1, kTheirs, Null{});
  EXPECT_THAT(spindle.did, ElementsAre("answer 1 HasLock2 no token=4534056637851642752"));
}

TEST(SpindleV2LeaderQuestionTest, IsTheLastWriterEvenOfADeadLease) {
  // It does not ask for the age: a leader that died an hour ago is still named.
  Spindle spindle;
  Follows(spindle, kTheirs);
  spindle.Asks(Question::kLeader);
  spindle.AnswersRow(1, kTheirs, std::string("long gone"));
  EXPECT_THAT(spindle.did, ElementsAre("answer 1 Leader yes 'long gone'"));
}

TEST(SpindleV2LeaderQuestionTest, OfAnAbsentRowIsNobodyWithoutAnError) {
  // The empty name, and no error, upstream.
  Spindle spindle;
  Follows(spindle, kTheirs);
  spindle.Asks(Question::kLeader);
  spindle.AnswersNoRow(1);
  EXPECT_THAT(spindle.did, ElementsAre("answer 1 Leader yes"));
}

TEST(SpindleV2LeaderQuestionTest, HandsOutSpannersError) {
  // The only question whose error reaches the user.
  Spindle spindle;
  Follows(spindle, kTheirs);
  spindle.Asks(Question::kLeader);
  spindle.AnswersError(1);
  EXPECT_THAT(spindle.did, ElementsAre("answer 1 Leader no 'INTERNAL: lost'"));
}

}  // namespace
}  // namespace whorl::spindle_v2::spindle_v2_questions_test
