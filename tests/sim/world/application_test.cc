// The application's machine, step by step: who it asks, when it writes, and when it stops.
#include "sim/world/application.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace whorl::sim::application_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using enum ApplicationTimer;

constexpr Duration kWriteEvery = Milliseconds(200);
constexpr Duration kWorkFor = Milliseconds(50);
constexpr uint64_t kToken = 7;

class Application : public testing::Test {
 protected:
  explicit Application(Use use = Use::kCallback) {
    config_ = {.use = use,
               .deadline = std::nullopt,
               .write_every = kWriteEvery,
               .work_for = kWorkFor,
               .resource = ResourceKind::kFenced};
  }

  // The effects of one event, in their order.
  std::vector<ApplicationEffect> After(const ApplicationEvent& event, Duration at = {}) {
    std::vector<ApplicationEffect> out;
    Step(config_, state_, LocalInstant{} + at, event, out);
    return out;
  }
  std::vector<ApplicationEffect> Starts() { return After(ApplicationStarted{}); }
  std::vector<ApplicationEffect> Leads(Duration at = {}) {
    return After(LeadershipChanged{.leader = true}, at);
  }
  std::vector<ApplicationEffect> LeadsNoMore() { return After(LeadershipChanged{.leader = false}); }
  std::vector<ApplicationEffect> Fires(ApplicationTimer timer, Duration at = {}) {
    return After(ApplicationTimerFired{.timer = timer}, at);
  }
  std::vector<ApplicationEffect> Hears(Question question, bool yes, Duration at = {}) {
    return After(
        ApplicationAnswered{
            .question = question, .yes = yes, .token = yes ? std::optional(kToken) : std::nullopt},
        at);
  }
  std::vector<ApplicationEffect> IsToStop(bool believes) {
    return After(ApplicationStopRequested{.believes = believes});
  }
  // At work as a leader: between the answer and the write.
  void Works() {
    Starts();
    Leads();
    Hears(Question::kHasLock, true);
    ASSERT_TRUE(state_.working);
  }

  static ApplicationEffect AsksForHasLock() {
    return Asked{.ask = kAskHasLock, .question = Question::kHasLock};
  }
  static ApplicationEffect Sets(ApplicationTimer timer, Duration at) {
    return SetApplicationTimer{.timer = timer, .at = LocalInstant{} + at};
  }
  static ApplicationEffect Cancels(ApplicationTimer timer) {
    return CancelApplicationTimer{.timer = timer};
  }
  static ApplicationEffect Writes(std::optional<uint64_t> token = kToken) {
    return WriteToResource{.resource = ResourceKind::kFenced, .token = token};
  }
  static ApplicationEffect EndsBecause(StopReason reason) {
    return StopRequested{.reason = reason};
  }

  ApplicationConfig config_;
  ApplicationState state_;
};

class AskingApplication : public Application {
 protected:
  AskingApplication() : Application(Use::kHasLock) {}
};

class LockingApplication : public Application {
 protected:
  LockingApplication() : Application(Use::kLock) {}
};

// --- beginning -----------------------------------------------------------------------------------

// Who is called back has nothing to do until then: a question of it would be one RPC too many.
TEST_F(Application, AskedByNobodyItWaitsForTheCallback) {
  EXPECT_THAT(Starts(), ElementsAre(Started{}));
}

TEST_F(AskingApplication, AsksFirstAfterOneInterval) {
  EXPECT_THAT(Starts(), ElementsAre(Started{}, Sets(kNextWrite, kWriteEvery)));
}

// The blocking wrapper starts its protocol by itself.
TEST_F(LockingApplication, BeginsWithLock) {
  EXPECT_THAT(Starts(), ElementsAre(Asked{.ask = kAskLock, .question = Question::kLock}));
}

TEST_F(Application, TheDeadlineOfItsContextIsATimer) {
  config_.deadline = Seconds(5);
  EXPECT_THAT(Starts(), ElementsAre(Sets(kDeadline, Seconds(5)), Started{}));
}

// --- leading, asking, working, writing -----------------------------------------------------------

// The token is asked for once in a term; a question before each write would hide stale tokens.
TEST_F(Application, ALeaderAsksForItsTokenOnceAndWritesFromThenOn) {
  Starts();
  EXPECT_THAT(Leads(Seconds(1)),
              ElementsAre(Sets(kNextWrite, Seconds(1) + kWriteEvery), AsksForHasLock()));
  EXPECT_THAT(Hears(Question::kHasLock, true, Seconds(2)),
              ElementsAre(Sets(kWorkDone, Seconds(2) + kWorkFor)));
  EXPECT_THAT(Fires(kWorkDone), ElementsAre(Writes()));
  EXPECT_THAT(Fires(kNextWrite, Seconds(3)), ElementsAre(Sets(kNextWrite, Seconds(3) + kWriteEvery),
                                                         Sets(kWorkDone, Seconds(3) + kWorkFor)));
  EXPECT_THAT(Fires(kWorkDone), ElementsAre(Writes()));
}

TEST_F(AskingApplication, AsksBeforeEachWrite) {
  Starts();
  for (const Duration at : {Seconds(1), Seconds(2)}) {
    EXPECT_THAT(Fires(kNextWrite, at),
                ElementsAre(Sets(kNextWrite, at + kWriteEvery), AsksForHasLock()));
    EXPECT_THAT(Hears(Question::kHasLock, true, at), ElementsAre(Sets(kWorkDone, at + kWorkFor)));
    EXPECT_THAT(Fires(kWorkDone), ElementsAre(Writes()));
  }
}

TEST_F(AskingApplication, WritesNothingAfterANo) {
  Starts();
  Fires(kNextWrite);
  EXPECT_THAT(Hears(Question::kHasLock, false), IsEmpty());
  EXPECT_FALSE(state_.working);
}

TEST_F(LockingApplication, LeadsOnceLockHasReturned) {
  Starts();
  EXPECT_THAT(Hears(Question::kLock, false), IsEmpty());
  EXPECT_THAT(Hears(Question::kLock, true),
              ElementsAre(Sets(kNextWrite, kWriteEvery), AsksForHasLock()));
}

// Callbacks are not how this application uses the lock, whatever the protocol says by them.
TEST_F(AskingApplication, TakesNoNoticeOfCallbacks) {
  Starts();
  EXPECT_THAT(Leads(), IsEmpty());
  EXPECT_FALSE(state_.leading);
}

TEST_F(Application, WorkThatTakesNoTimeIsWrittenAtOnce) {
  config_.work_for = Duration{};
  Starts();
  Leads();
  EXPECT_THAT(Hears(Question::kHasLock, true), ElementsAre(Writes()));
  EXPECT_FALSE(state_.working);
}

// A protocol may call its callback at every heartbeat (spindle_v2).
TEST_F(Application, BeingToldAgainThatItLeadsChangesNothing) {
  Works();
  const ApplicationState before = state_;
  EXPECT_THAT(Leads(), IsEmpty());
  EXPECT_EQ(state_, before);
}

// An answer may take longer than the interval: two questions of one AskId must not be under way.
TEST_F(AskingApplication, DoesNotAskWhileAQuestionIsUnderWayNorWhileItWorks) {
  Starts();
  Fires(kNextWrite);
  const auto no_question = ElementsAre(Sets(kNextWrite, Seconds(1) + kWriteEvery));
  EXPECT_THAT(Fires(kNextWrite, Seconds(1)), no_question);
  Hears(Question::kHasLock, true);
  EXPECT_THAT(Fires(kNextWrite, Seconds(1)), no_question);
}

// --- the end of leading --------------------------------------------------------------------------

// Work is under the lock: what was not written before must not be written after.
TEST_F(Application, WhoLeadsNoMoreStopsInTheMiddleAndWritesNothing) {
  Works();
  EXPECT_THAT(LeadsNoMore(), ElementsAre(Cancels(kNextWrite), Cancels(kWorkDone)));
  EXPECT_FALSE(state_.working);
}

// A token of one term must not be written with in the next one.
TEST_F(Application, EachTermAsksForItsToken) {
  Works();
  LeadsNoMore();
  EXPECT_EQ(state_.token, std::nullopt);
  EXPECT_THAT(Leads(), ElementsAre(Sets(kNextWrite, kWriteEvery), AsksForHasLock()));
}

// The question was of a term that is over by the time of the answer.
TEST_F(Application, AYesThatComesAfterTheTermBeginsNoWork) {
  Starts();
  Leads();
  LeadsNoMore();
  EXPECT_THAT(Hears(Question::kHasLock, true), IsEmpty());
  EXPECT_FALSE(state_.working);
}

// --- time to stop --------------------------------------------------------------------------------

// Until then it is at work, and what it was writing may still be written, with the token of its term.
TEST_F(Application, WhoNeedsTimeToStopIsAtWorkUntilThen) {
  config_.stop_takes = Seconds(3);
  Works();
  EXPECT_THAT(LeadsNoMore(), ElementsAre(Cancels(kNextWrite), Sets(kStopped, Seconds(3))));
  EXPECT_TRUE(AtWork(config_, state_));
  EXPECT_THAT(Fires(kWorkDone), ElementsAre(Writes()));
  EXPECT_TRUE(AtWork(config_, state_));
  EXPECT_THAT(Fires(kStopped), IsEmpty());
  EXPECT_FALSE(AtWork(config_, state_));
}

TEST_F(Application, WhoLeadsAgainMeanwhileBeginsWhenItHasStopped) {
  config_.stop_takes = Seconds(3);
  Works();
  LeadsNoMore();
  EXPECT_THAT(Leads(), IsEmpty());
  EXPECT_THAT(Fires(kStopped, Seconds(4)),
              ElementsAre(Cancels(kWorkDone), Sets(kNextWrite, Seconds(4) + kWriteEvery),
                          AsksForHasLock()));
}

// The protocol gives the lock back only after that (fenced_lease).
TEST_F(Application, WhoIsToldToStopSaysWhenItHas) {
  config_.stop_takes = Seconds(3);
  Works();
  EXPECT_THAT(IsToStop(true), Not(Contains(ApplicationEffect(WorkStopped{}))));
  EXPECT_THAT(Fires(kStopped), ElementsAre(Cancels(kWorkDone), WorkStopped{}));
}

// --- the end of its context, and of its process --------------------------------------------------

// The protocol gives the lock back only after that (fenced_lease), so it must come, and not early.
TEST_F(Application, AtTheDeadlineWorkGoesOnUntilItHasWritten) {
  Works();
  EXPECT_THAT(Fires(kDeadline),
              ElementsAre(Cancels(kDeadline), EndsBecause(StopReason::kDeadline)));
  EXPECT_THAT(Fires(kWorkDone), ElementsAre(Writes(), WorkStopped{}));
}

TEST_F(Application, AtTheDeadlineWorkStopsWhenItLeadsNoMore) {
  Works();
  Fires(kDeadline);
  EXPECT_THAT(LeadsNoMore(), ElementsAre(Cancels(kNextWrite), Cancels(kWorkDone), WorkStopped{}));
}

// Its part has ended by then, so nothing else tells the protocol.
TEST_F(AskingApplication, AStopAfterTheDeadlineSaysThatItEndsTheWork) {
  Starts();
  Fires(kNextWrite);
  Hears(Question::kHasLock, true);
  ASSERT_TRUE(state_.working);
  EXPECT_THAT(Fires(kDeadline), Not(Contains(ApplicationEffect(WorkStopped{}))));
  EXPECT_THAT(IsToStop(/*believes=*/false), Contains(ApplicationEffect(WorkStopped{})));
}

TEST_F(Application, WithoutWorkTheDeadlineSaysSoAtOnce) {
  Starts();
  EXPECT_THAT(Fires(kDeadline),
              ElementsAre(Cancels(kDeadline), EndsBecause(StopReason::kDeadline), WorkStopped{}));
}

TEST_F(Application, AStopEndsWorkAtOnceAndWritesNothing) {
  Works();
  EXPECT_THAT(IsToStop(/*believes=*/true),
              ElementsAre(Cancels(kNextWrite), Cancels(kNextWrite), Cancels(kWorkDone),
                          Cancels(kDeadline), EndsBecause(StopReason::kCancelled), WorkStopped{}));
}

// Unlock is for who holds the lock; and it is asked before the context ends, as in a program.
TEST_F(LockingApplication, UnlocksWhenItStopsWhileItHoldsTheLock) {
  Starts();
  EXPECT_THAT(
      IsToStop(/*believes=*/true),
      ElementsAre(Cancels(kNextWrite), Asked{.ask = kAskUnlock, .question = Question::kUnlock},
                  Cancels(kDeadline), EndsBecause(StopReason::kCancelled), WorkStopped{}));
}

TEST_F(LockingApplication, DoesNotUnlockWhatItDoesNotHold) {
  Starts();
  EXPECT_THAT(IsToStop(/*believes=*/false),
              ElementsAre(Cancels(kNextWrite), Cancels(kDeadline),
                          EndsBecause(StopReason::kCancelled), WorkStopped{}));
}

// The machine was told why its context ended: a second reason would be another event of it.
TEST_F(Application, AContextEndsOnce) {
  Starts();
  Fires(kDeadline);
  EXPECT_THAT(IsToStop(/*believes=*/false), ElementsAre(Cancels(kNextWrite)));
  EXPECT_THAT(Fires(kDeadline), IsEmpty());
}

// Answers and callbacks may still be on their way when the process stops.
TEST_F(Application, AfterAStopNothingBeginsAgain) {
  Starts();
  Leads();
  IsToStop(/*believes=*/true);
  EXPECT_THAT(Hears(Question::kHasLock, true), IsEmpty());
  EXPECT_THAT(Leads(), IsEmpty());
  EXPECT_FALSE(state_.working || state_.leading);
}

TEST_F(LockingApplication, AYesToLockThatComesAfterAStopBeginsNothing) {
  Starts();
  IsToStop(/*believes=*/false);
  EXPECT_THAT(Hears(Question::kLock, true), IsEmpty());
}

// --- questions beside its work -------------------------------------------------------------------

// All at once, and again while they are not answered: each with an id of its own, or answers would be
// taken for each other's.
TEST_F(Application, AsksBesideItsWorkAllAtOnceAndAgain) {
  config_.ask = {Question::kLeader, Question::kHasLock2};
  config_.ask_every = Seconds(2);
  EXPECT_THAT(Starts(), ElementsAre(Sets(kMoreQuestions, Seconds(2)), Started{}));
  EXPECT_THAT(Fires(kMoreQuestions, Seconds(2)),
              ElementsAre(Sets(kMoreQuestions, Seconds(4)),
                          Asked{.ask = kAskMore, .question = Question::kLeader},
                          Asked{.ask = kAskMore + 1, .question = Question::kHasLock2}));
  EXPECT_THAT(After(ApplicationAnswered{.ask = kAskMore, .question = Question::kLeader}),
              IsEmpty());
  EXPECT_THAT(Fires(kMoreQuestions, Seconds(4)),
              ElementsAre(Sets(kMoreQuestions, Seconds(6)),
                          Asked{.ask = kAskMore, .question = Question::kLeader},
                          Asked{.ask = kAskMore + 2, .question = Question::kHasLock2}));
}

// What is asked beside the work must not become the work: a yes to HasLock2 begins no write.
TEST_F(Application, AnAnswerBesideItsWorkChangesNothing) {
  config_.ask = {Question::kHasLock};
  config_.ask_every = Seconds(2);
  Starts();
  Leads();
  Fires(kMoreQuestions, Seconds(2));
  const ApplicationState before = state_;
  EXPECT_THAT(
      After(ApplicationAnswered{.ask = kAskMore, .question = Question::kHasLock, .yes = true}),
      IsEmpty());
  EXPECT_EQ(state_.working, before.working);
  EXPECT_EQ(state_.asking, before.asking);
}

TEST_F(Application, GoesOnAskingAfterItWasToldToStop) {
  config_.ask = {Question::kLeader};
  config_.ask_every = Seconds(2);
  Starts();
  IsToStop(/*believes=*/false);
  EXPECT_THAT(Fires(kMoreQuestions, Seconds(2)),
              Contains(ApplicationEffect(Asked{.ask = kAskMore, .question = Question::kLeader})));
}

// A protocol that answers nothing must not get questions without end.
TEST_F(Application, HasABoundOnQuestionsUnderWay) {
  config_.ask = {Question::kLeader};
  config_.ask_every = Seconds(2);
  Starts();
  for (int i = 0; i < kAskedAtOnceMax; ++i) EXPECT_EQ(Fires(kMoreQuestions).size(), 2U);
  EXPECT_THAT(Fires(kMoreQuestions), ElementsAre(Sets(kMoreQuestions, Seconds(2))));
}

// --- Lock and Unlock, again and again ------------------------------------------------------------

TEST_F(LockingApplication, UnlocksAfterAWhileAndLocksAgain) {
  config_.hold_for = Seconds(3);
  config_.lock_again = Seconds(1);
  config_.deadline = Seconds(9);
  Starts();
  EXPECT_THAT(Hears(Question::kLock, true, Seconds(1)),
              Contains(ApplicationEffect(Sets(kHeldLongEnough, Seconds(4)))));
  EXPECT_THAT(
      Fires(kHeldLongEnough, Seconds(4)),
      ElementsAre(Cancels(kNextWrite), Asked{.ask = kAskUnlock, .question = Question::kUnlock},
                  Cancels(kDeadline), EndsBecause(StopReason::kCancelled), WorkStopped{}));
  EXPECT_FALSE(AtWork(config_, state_));
  EXPECT_THAT(Hears(Question::kUnlock, true, Seconds(4)),
              ElementsAre(Sets(kLockAgain, Seconds(5))));
  EXPECT_THAT(Fires(kLockAgain, Seconds(5)),
              ElementsAre(Sets(kDeadline, Seconds(14)),
                          Asked{.ask = kAskLock, .question = Question::kLock}));
  EXPECT_FALSE(state_.ended);
}

// It gives the lock back only when it no longer works under it.
TEST_F(LockingApplication, UnlocksWhenItsWorkHasStopped) {
  config_.hold_for = Seconds(3);
  config_.stop_takes = Seconds(2);
  Starts();
  Hears(Question::kLock, true);
  EXPECT_THAT(Fires(kHeldLongEnough, Seconds(3)),
              ElementsAre(Cancels(kNextWrite), Sets(kStopped, Seconds(5))));
  EXPECT_THAT(Fires(kStopped, Seconds(5)),
              ElementsAre(Asked{.ask = kAskUnlock, .question = Question::kUnlock},
                          Cancels(kDeadline), EndsBecause(StopReason::kCancelled), WorkStopped{}));
}

// Its context ended before it got the lock: the next call has a new one.
TEST_F(LockingApplication, LocksAgainAfterALockThatFailed) {
  config_.lock_again = Seconds(1);
  config_.deadline = Seconds(9);
  Starts();
  Fires(kDeadline, Seconds(9));
  EXPECT_THAT(Hears(Question::kLock, false, Seconds(9)),
              ElementsAre(Sets(kLockAgain, Seconds(10))));
  EXPECT_THAT(Fires(kLockAgain, Seconds(10)),
              ElementsAre(Sets(kDeadline, Seconds(19)),
                          Asked{.ask = kAskLock, .question = Question::kLock}));
}

TEST_F(LockingApplication, LocksNoMoreAfterItWasToldToStop) {
  config_.hold_for = Seconds(3);
  config_.lock_again = Seconds(1);
  Starts();
  Hears(Question::kLock, true);
  EXPECT_THAT(IsToStop(/*believes=*/true),
              IsSupersetOf({Cancels(kHeldLongEnough), Cancels(kLockAgain)}));
  EXPECT_THAT(Hears(Question::kUnlock, true), IsEmpty());
}

// --- its configuration ---------------------------------------------------------------------------

// Only tokens can fence: where the protocol has none, a fencing resource would refuse everything.
TEST(ApplicationConfigTest, WithoutTokensItWritesToTheResourceThatDoesNotFence) {
  Scenario scenario;
  scenario.protocol = "semaphore";
  scenario.workload.resource = ResourceKind::kBoth;
  EXPECT_EQ(ApplicationConfigOf(scenario, NodeSpec{}).resource, ResourceKind::kUnfenced);
  scenario.protocol = "fenced_lease";
  EXPECT_EQ(ApplicationConfigOf(scenario, NodeSpec{}).resource, ResourceKind::kBoth);
}

}  // namespace
}  // namespace whorl::sim::application_test
