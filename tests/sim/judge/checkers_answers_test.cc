// answered_in_time, and the "yes" of Lock(), on crafted traces.
#include <string>

#include "tests/sim/judge/checkers_testing.h"

namespace whorl::sim::checkers_answers_test {
namespace {

constexpr Invariant kAnswered = Invariant::kAnsweredInTime;
constexpr Duration kAllowed = Milliseconds(10);

struct Questions {
  explicit Questions(const std::string& protocol = "spindle_v2") : trace(Of(protocol)) {
    trace.At(Seconds(1)).Starts("a").Starts("b");
  }
  static Scenario Of(const std::string& protocol) {
    Scenario scenario = MakeScenario({"a", "b"});
    scenario.protocol = protocol;
    return scenario;
  }
  Questions& Asks(Duration at, Question question = Question::kHasLock, AskId ask = 0) {
    trace.At(at).Happens(
        QuestionAsked{.process = trace.Process("a"), .lock = 0, .ask = ask, .question = question});
    return *this;
  }
  Questions& IsAnswered(Duration at, Question question = Question::kHasLock, bool yes = false) {
    trace.At(at).IsTold("a", yes, at, {}, question);
    return *this;
  }
  Questions& QueryBegins(Duration at, StepName step = steps::kHasLock) {
    trace.At(at).Happens(
        TransactionStarted{.process = trace.Process("a"), .lock = 0, .request = 4, .step = step});
    return *this;
  }
  Questions& QueryEnds(Duration at, StepName step = steps::kHasLock) {
    trace.At(at).Happens(
        TransactionFinished{.process = trace.Process("a"), .lock = 0, .request = 4, .step = step});
    return *this;
  }
  CheckReport AtEnd() { return trace.EndsAt(Seconds(60)); }

  Trace trace;
};

TEST(AnsweredInTimeTest, AnAnswerAtOnceHolds) {
  Questions questions;
  questions.Asks(Seconds(2)).IsAnswered(Seconds(2) + kAllowed);
  ExpectHolds(questions.AtEnd(), kAnswered);
}

TEST(AnsweredInTimeTest, AQuestionWithoutAnAnswerIsOneViolation) {
  for (const Question question : {Question::kHasLock, Question::kHasLock2, Question::kLeader,
                                  Question::kUnlock, Question::kDuration}) {
    SCOPED_TRACE(WordOf(question));
    Questions questions;
    questions.Asks(Seconds(2), question);
    const CheckReport report = questions.AtEnd();
    EXPECT_EQ(report[kAnswered].violations, 1);
    ExpectViolated(report, kAnswered, Seconds(2) + kAllowed, 0,
                   {"a has not answered a question about lock \"lock\""});
  }
}

// The client bounds how long that takes; an outage may last.
TEST(AnsweredInTimeTest, AQuestionWaitsForItsTransactionAndNoLonger) {
  Questions questions;
  questions.Asks(Seconds(2)).QueryBegins(Seconds(2)).QueryEnds(Seconds(40));
  questions.IsAnswered(Seconds(40));
  ExpectHolds(questions.AtEnd(), kAnswered);
  Questions lost;
  lost.Asks(Seconds(2)).QueryBegins(Seconds(2)).QueryEnds(Seconds(40));
  ExpectViolated(lost.AtEnd(), kAnswered, Seconds(40) + kAllowed);
}

TEST(AnsweredInTimeTest, OneAnswerIsNotTheAnswerToTwoQuestions) {
  Questions questions;
  questions.Asks(Seconds(2)).Asks(Seconds(2), Question::kHasLock2, 1).IsAnswered(Seconds(2));
  ExpectViolated(questions.AtEnd(), kAnswered, Seconds(2) + kAllowed);
}

TEST(AnsweredInTimeTest, AnotherStepIsNoReasonToWait) {
  Questions questions;
  questions.Asks(Seconds(2)).QueryBegins(Seconds(2), spindle_v3::steps::kHeartbeat);
  ExpectViolated(questions.AtEnd(), kAnswered, Seconds(2) + kAllowed);
}

TEST(AnsweredInTimeTest, ALeaderIsAskedForByAStepOfItsOwn) {
  Questions questions("lease_lock");
  questions.Asks(Seconds(2), Question::kLeader).QueryBegins(Seconds(2), lease_lock::steps::kGet);
  questions.QueryEnds(Seconds(9), lease_lock::steps::kGet);
  questions.IsAnswered(Seconds(9), Question::kLeader);
  ExpectHolds(questions.AtEnd(), kAnswered);
}

TEST(AnsweredInTimeTest, AStopIsNoReasonNotToAnswer) {
  Questions questions;
  questions.trace.At(Seconds(2)).Stops("a").EndsParticipation("a");
  questions.Asks(Seconds(3));
  ExpectViolated(questions.AtEnd(), kAnswered, Seconds(3) + kAllowed);
}

TEST(AnsweredInTimeTest, ACrashAndAPauseAre) {
  Questions crashed;
  crashed.Asks(Seconds(2)).trace.Crashes("a");
  ExpectHolds(crashed.AtEnd(), kAnswered);
  Questions paused;
  paused.Asks(Seconds(2)).trace.Pauses("a").At(Seconds(20)).Resumes("a");
  paused.IsAnswered(Seconds(20));
  ExpectHolds(paused.AtEnd(), kAnswered);
}

// Lock() waits for the lock; from the end of its context on, for a look at it.
TEST(AnsweredInTimeTest, LockWaitsUntilItsContextHasEnded) {
  constexpr Duration kLook = Milliseconds(550) + kAllowed;
  for (const bool in_time : {true, false}) {
    SCOPED_TRACE(in_time);
    Questions questions;
    questions.Asks(Seconds(2), Question::kLock);
    questions.trace.At(Seconds(30)).EndsParticipation("a");
    questions.IsAnswered(Seconds(30) + kLook + (in_time ? Duration{} : Milliseconds(1)),
                         Question::kLock);
    const CheckReport report = questions.AtEnd();
    if (in_time) {
      ExpectHolds(report, kAnswered);
    } else {
      ExpectViolated(report, kAnswered, Seconds(30) + kLook, 0,
                     {"Lock(), whose context has ended"});
    }
  }
}

// The question that was under way may end, but no new one is a reason to wait.
TEST(AnsweredInTimeTest, LockThatGoesOnAskingIsAViolation) {
  Questions questions;
  questions.Asks(Seconds(2), Question::kLock).QueryBegins(Seconds(4));
  questions.trace.At(Seconds(5)).EndsParticipation("a");
  questions.QueryEnds(Seconds(8)).QueryBegins(Seconds(8) + Milliseconds(500));
  ExpectViolated(questions.AtEnd(), kAnswered, Seconds(8) + Milliseconds(550) + kAllowed);
}

// --- has_lock_truthful of Lock() -------------------------------------------------------------------

TEST(LockTruthfulTest, OwnedSinceItWasAskedIsTrue) {
  Questions questions;
  questions.Asks(Seconds(2), Question::kLock);
  questions.trace.At(Seconds(3)).Grants("a", Seconds(3)).At(Seconds(4)).Grants("b", Seconds(4));
  questions.IsAnswered(Seconds(5), Question::kLock, true);
  ExpectHolds(questions.AtEnd(), Invariant::kHasLockTruthful);
}

TEST(LockTruthfulTest, LostBeforeItWasAskedIsNot) {
  Questions questions;
  questions.trace.At(Seconds(3)).Grants("a", Seconds(3)).At(Seconds(4)).Grants("b", Seconds(4));
  questions.Asks(Seconds(5), Question::kLock).IsAnswered(Seconds(5), Question::kLock, true);
  ExpectViolated(questions.AtEnd(), Invariant::kHasLockTruthful, Seconds(5), 0,
                 {"had not owned it since 4s"});
}

TEST(LockTruthfulTest, AnErrorOfLockAndTheYesOfUnlockSayNothing) {
  Questions questions;
  questions.Asks(Seconds(2), Question::kLock).IsAnswered(Seconds(3), Question::kLock, false);
  questions.Asks(Seconds(4), Question::kUnlock).IsAnswered(Seconds(4), Question::kUnlock, true);
  ExpectHolds(questions.AtEnd(), Invariant::kHasLockTruthful);
}

}  // namespace
}  // namespace whorl::sim::checkers_answers_test
