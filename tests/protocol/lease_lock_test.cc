// lease_lock: what the user of Locker does, what it believes, what it answers and how it stops, as
// protocol/lease_lock/README.md has it. Locker's own rules are in locker_test.cc.
#include "protocol/lease_lock/lease_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/protocol/process_under_test.h"
#include "tests/protocol/protocol_testing.h"

namespace whorl::lease_lock::lease_lock_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Config MakeTestConfig(std::string id = "a") {
  return MakeConfig("locktable", "job", std::move(id), Seconds(12));
}

const Timestamp kThen = At(Seconds(9));

// One user under a test's hands (process_under_test.h), with its own verbs.
class User : public ProcessUnderTest<Config, State> {
 public:
  explicit User(Config with = MakeTestConfig()) : ProcessUnderTest(std::move(with)) {}

  const Did& Gets() { return Ends(kPollRequest, Committed({})); }
  const Did& FindsItTaken() { return Ends(kPollRequest, Refused({.rows = {HeldByAnother()}})); }
  const Did& PollFails(Outcome outcome = Outcome::kAborted) {
    return Ends(kPollRequest, Failed(outcome));
  }
  const Did& Beats() { return Ends(kBeatRequest, Committed({.row_count = 1})); }
  const Did& BeatFindsAnother() { return Ends(kBeatRequest, Refused({.row_count = 0})); }
  const Did& BeatFails() { return Ends(kBeatRequest, Failed(Outcome::kUnknown)); }
  const Did& IsFound(RequestId request, const char* owner) {
    return Ends(request, Found({{"job", owner, kThen, kThen, kThen}}));
  }
  const Did& IsNotFound(RequestId request) { return Ends(request, Found({})); }
  const Did& ReleaseEnds() { return Ends(kReleaseRequest, Committed({})); }
  const Did& ReleaseFindsItTaken() {
    return Ends(kReleaseRequest, Refused({.rows = {HeldByAnother()}}));
  }

 private:
  Row HeldByAnother() const { return {"b", Clocks().wall, Clocks().wall}; }
  static TransactionResult Committed(StatementResult result) {
    return {.outcome = Outcome::kCommitted, .status = {}, .results = {std::move(result)}};
  }
  static TransactionResult Refused(StatementResult result) {
    return {.outcome = Outcome::kAborted,
            .status = Error(Code::kFailedPrecondition, "refused"),
            .results = {std::move(result)}};
  }
  static TransactionResult Failed(Outcome outcome) {
    return {.outcome = outcome, .status = Error(Code::kUnavailable, "lost"), .results = {}};
  }
  std::string TimerText(TimerId timer) const override { return timer == kPoll ? "poll" : "beat"; }
};

class UserTest : public testing::Test {
 protected:
  User user;
};
using LeaseLockPollTest = UserTest;
using LeaseLockHoldTest = UserTest;
using LeaseLockQuestionTest = UserTest;
using LeaseLockStopTest = UserTest;

// Has the lock from 0 on, until 12 s.
void Holds(User& user) {
  user.Starts();
  user.Gets();
}

// --- words -------------------------------------------------------------------------------------

TEST(LeaseLockConfigTest, AMissingOwnerIsDrawnAsAUuid) {
  ExpectAUuidIsDrawnFor(User(MakeTestConfig("")));
}

// --- polling -----------------------------------------------------------------------------------

TEST_F(LeaseLockPollTest, TheNextComesAfterThePartOfALeaseThatTheConfigurationSays) {
  // Exploration on a coarse grid of time needs other numbers than those that ship.
  user.config.constants.polls_in_lease = 2;
  user.Starts();
  EXPECT_THAT(user.PollFails(), ElementsAre("note claim failed", "set poll 6s"));
}

TEST_F(LeaseLockPollTest, ComesEveryQuarterOfALease) {
  EXPECT_THAT(user.Starts(), ElementsAre("run acquire"));
  user.Passes(Milliseconds(20));
  EXPECT_THAT(user.PollFails(), ElementsAre("note claim failed", "set poll 3s"));
  EXPECT_THAT(user.Fires(kPoll), ElementsAre("run acquire"));
  user.Passes(Seconds(5));
  EXPECT_THAT(user.PollFails(Outcome::kUnknown), ElementsAre("note claim failed", "set poll 8s"))
      << "it took longer";
  EXPECT_EQ(user.state.polls, 2);
}

TEST_F(LeaseLockPollTest, AsksOnceWhomItWaitsFor) {
  // That is what GetCurrentLock is for, and asking at each poll would say nothing new.
  user.Starts();
  EXPECT_THAT(user.FindsItTaken(), ElementsAre("run get", "set poll 3s"));
  EXPECT_THAT(user.IsFound(kStarvationRequest, "b"), ElementsAre("note held by another"));
  user.Fires(kPoll);
  EXPECT_THAT(user.FindsItTaken(), ElementsAre("set poll 6s"));
}

TEST_F(LeaseLockPollTest, DoesNotAskTwiceAtOnce) {
  // The first question may still be under way when the lock was had and lost in between.
  user.Starts();
  user.FindsItTaken();
  user.Fires(kPoll);
  user.Gets();
  user.Fires(kBeat);
  user.BeatFindsAnother();
  EXPECT_THAT(user.FindsItTaken(), ElementsAre("set poll 10s"));
}

TEST_F(LeaseLockHoldTest, HeartbeatsEveryThirdOfALease) {
  user.Starts();
  user.Passes(Milliseconds(20));
  EXPECT_THAT(user.Gets(), ElementsAre("note got the lock", "callback 1", "set beat 4.02s"));
  EXPECT_THAT(user.Fires(kBeat), ElementsAre("run heartbeat"));
  EXPECT_THAT(user.Beats(), ElementsAre("set beat 8.02s"));
  EXPECT_EQ(user.state.lock->leased_until, At(Milliseconds(16'020)));
}

TEST_F(LeaseLockHoldTest, BelievesUntilItsWallClockShowsTheEnd) {
  // The lease counts from the call, not from its answer.
  user.Starts();
  user.Passes(Seconds(2));
  user.Gets();
  EXPECT_EQ(LeadershipViewOf(user.state, user.Clocks()).believes_until, ShownAfter(Seconds(12)));
  user.Passes(Seconds(10) - Nanoseconds(1));
  EXPECT_TRUE(user.Believes());
  user.Passes(Nanoseconds(1));
  EXPECT_FALSE(user.Believes());
  EXPECT_FALSE(LeadershipViewOf(user.state, user.Clocks()).answers);
}

TEST_F(LeaseLockHoldTest, AWallClockThatIsSetMovesTheEnd) {
  Holds(user);
  user.wall_ahead = Seconds(-30);
  EXPECT_EQ(LeadershipViewOf(user.state, user.Clocks()).believes_until, ShownAfter(Seconds(42)));
  user.wall_ahead = Seconds(30);
  EXPECT_FALSE(user.Believes());
}

TEST_F(LeaseLockHoldTest, AHeartbeatAfterTheEndBringsTheBeliefBack) {
  // Nobody else had the lock meanwhile, or it would have failed.
  Holds(user);
  user.Fires(kBeat);
  user.Passes(Seconds(20));
  EXPECT_FALSE(user.Believes());
  user.Beats();
  EXPECT_FALSE(user.Believes()) << "its lease counts from before it hung";
  user.Fires(kBeat);
  user.Beats();
  EXPECT_TRUE(user.Believes());
}

TEST_F(LeaseLockHoldTest, AnyErrorOfAHeartbeatEndsIt) {
  // It reports the error and stops; the user begins anew.
  Holds(user);
  user.Fires(kBeat);
  EXPECT_THAT(user.BeatFails(), ElementsAre("note heartbeat failed", "note lost the lock",
                                            "callback 0", "run acquire"));
  EXPECT_FALSE(user.Believes());
  user.Gets();
  EXPECT_TRUE(user.Believes()) << "its own row is not in its way";
}

TEST_F(LeaseLockQuestionTest, HasLockIsAnsweredFromWhatItKnows) {
  user.Starts();
  EXPECT_THAT(user.Asks(Question::kHasLock), ElementsAre("HasLock no"));
  user.Gets();
  EXPECT_THAT(user.Asks(Question::kHasLock), ElementsAre("HasLock yes"))
      << "there is no token to hand out";
  EXPECT_THAT(user.Asks(Question::kHasLock2), ElementsAre("HasLock2 yes 'a'"));
  user.Passes(Seconds(12));
  EXPECT_THAT(user.Asks(Question::kHasLock), ElementsAre("HasLock no"));
}

TEST_F(LeaseLockQuestionTest, LeaderIsTheCurrentLocksOwner) {
  Holds(user);
  EXPECT_THAT(user.Asks(Question::kLeader, 2), ElementsAre("run get"));
  EXPECT_THAT(user.IsFound(kFirstAskRequest + 2, "b"), ElementsAre("2: Leader yes 'b'"));
  user.Asks(Question::kLeader, 2);
  EXPECT_THAT(user.IsNotFound(kFirstAskRequest + 2), ElementsAre("2: Leader no"));
}

TEST_F(LeaseLockQuestionTest, TellsItsLeaseAndItsPolls) {
  Holds(user);
  EXPECT_THAT(user.Asks(Question::kDuration), ElementsAre("Duration yes 12000"));
  EXPECT_THAT(user.Asks(Question::kIterations), ElementsAre("Iterations yes 1"));
  EXPECT_THAT(user.Asks(Question::kLock),
              ElementsAre("Lock no 'lease_lock has no blocking Lock()'"));
}

TEST_F(LeaseLockStopTest, ReleasesWhenTheWorkHasStopped) {
  Holds(user);
  EXPECT_THAT(user.Stops(), ElementsAre("cancel poll", "cancel beat", "callback 0"));
  EXPECT_FALSE(user.Believes());
  EXPECT_THAT(user.WorkStops(), ElementsAre("run release"));
  EXPECT_THAT(user.ReleaseEnds(), IsEmpty());
  EXPECT_THAT(user.WorkStops(), IsEmpty());
}

TEST_F(LeaseLockStopTest, ReleasesByItsClockOfThatMoment) {
  // Finding L2 needs no more: what counts as expired is judged at the release.
  Holds(user);
  user.wall_ahead = Seconds(30);
  user.Stops();
  user.WorkStops();
  EXPECT_EQ(user.Parameters(), (std::vector<Value>{"job", At(Seconds(30))}));
}

TEST_F(LeaseLockStopTest, CancelsWhatIsUnderWay) {
  User polling;
  polling.Starts();
  EXPECT_THAT(polling.Stops(), ElementsAre("cancel poll", "cancel beat", "cancel acquire"));
  EXPECT_THAT(polling.WorkStops(), IsEmpty());
  EXPECT_THAT(polling.PollFails(Outcome::kUnknown), IsEmpty());
  User beating;
  Holds(beating);
  beating.Fires(kBeat);
  EXPECT_THAT(beating.Stops(),
              ElementsAre("cancel poll", "cancel beat", "cancel heartbeat", "callback 0"));
  EXPECT_THAT(beating.WorkStops(), ElementsAre("run release"));
  EXPECT_THAT(beating.BeatFindsAnother(), IsEmpty());
}

TEST_F(LeaseLockStopTest, ReleasesWhatComesInTheMomentOfTheStop) {
  user.Starts();
  user.Stops();
  user.WorkStops();
  EXPECT_THAT(user.Gets(), ElementsAre("run release"));
}

TEST_F(LeaseLockStopTest, ReleasesAlsoAfterAnErrorUnlessAnotherHasTheLock) {
  // "Any other error type could indicate that the caller still holds the lock."
  User unsure;
  Holds(unsure);
  unsure.Fires(kBeat);
  unsure.BeatFails();
  unsure.Stops();
  EXPECT_THAT(unsure.WorkStops(), ElementsAre("run release"));
  EXPECT_THAT(unsure.ReleaseFindsItTaken(), ElementsAre("note release failed"));
  User sure;
  Holds(sure);
  sure.Fires(kBeat);
  sure.BeatFindsAnother();
  sure.Stops();
  EXPECT_THAT(sure.WorkStops(), IsEmpty());
}

// --- the state as a value ----------------------------------------------------------------------

TEST(LeaseLockStateTest, IsTheSameAfterTheSameEvents) {
  ExpectAStateIsAValue<User>(Holds, [](User& user) { user.Fires(kBeat); });
}

}  // namespace
}  // namespace whorl::lease_lock::lease_lock_test
