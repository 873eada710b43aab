// lease_lock: what the user of Locker does, what it believes, what it answers and how it stops, as
// protocol/lease_lock/README.md has it. Locker's own rules are in locker_test.cc.
#include "protocol/lease_lock/lease_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/lease_lock/info.h"
#include "protocol/protocol.h"
#include "protocol/spanner/fingerprint.h"
#include "tests/protocol/protocol_testing.h"

namespace whorl::lease_lock::lease_lock_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Config MakeTestConfig(std::string id = "a") {
  return MakeConfig("locktable", "job", std::move(id), Seconds(12));
}

// One user under a test's hands: verbs for what happens to it, and one line of text for each thing
// that it does. Time stands still unless a verb moves it; `did` holds what the last verb led to.
// The wall clock shows the monotonic time, beside what `wall_ahead` adds.
class User {
 public:
  explicit User(Config with = MakeTestConfig()) : config(std::move(with)) {}

  void Starts() { Hears(Started{}); }
  void Stops() { Hears(StopRequested{}); }
  void WorkStops() { Hears(WorkStopped{}); }
  void Asks(Question question, AskId ask = 0) { Hears(Asked{.ask = ask, .question = question}); }
  void Passes(Duration time) { now += time; }
  void TimerFires(TimerOfLocker timer) {
    ASSERT_TRUE(timers.contains(timer)) << "no such timer is set";
    now = std::max(now, timers.at(timer));
    timers.erase(timer);
    Hears(TimerFired{.timer = timer});
  }

  void Gets() { Ends(kPollRequest, Committed({})); }
  void FindsItTaken() {
    Ends(kPollRequest, Refused({.rows = {{std::string("b"), Wall(), Wall()}}}));
  }
  void PollFails(Outcome outcome = Outcome::kAborted) { Ends(kPollRequest, Failed(outcome)); }
  void Beats() { Ends(kBeatRequest, Committed({.row_count = 1})); }
  void BeatFindsAnother() { Ends(kBeatRequest, Refused({.row_count = 0})); }
  void BeatFails() { Ends(kBeatRequest, Failed(Outcome::kUnknown)); }
  void IsFound(RequestId request, const std::string& owner) {
    Ends(request, Committed({.rows = {{std::string("job"), owner, At(Seconds(9)), At(Duration{}),
                                       At(Duration{})}}}));
  }
  void IsNotFound(RequestId request) { Ends(request, Committed({.rows = {}})); }
  void ReleaseEnds(bool taken = false) {
    taken ? Ends(kReleaseRequest, Refused({.rows = {{std::string("b"), Wall(), Wall()}}}))
          : Ends(kReleaseRequest, Committed({}));
  }

  LocalTime Clocks() const { return {.monotonic = now, .wall = Wall()}; }
  bool Believes() const { return StandingOf(state, Clocks()).believes; }

  Config config;
  State state;
  ScriptedEntropy entropy;
  LocalInstant now;
  Duration wall_ahead;
  std::vector<std::string> did;
  std::map<TimerId, LocalInstant> timers;
  std::map<RequestId, Transaction> running;

 private:
  Timestamp Wall() const { return At(now - LocalInstant{} + wall_ahead); }
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
  void Ends(RequestId request, TransactionResult result) {
    ASSERT_TRUE(running.contains(request)) << "no such transaction is under way";
    const StepName step = running.at(request).step;
    running.erase(request);
    Hears(TransactionEnded{.request = request, .step = step, .result = std::move(result)});
  }
  void Hears(const Event& event) {
    did.clear();
    std::vector<Effect> effects;
    Step(config, state, Clocks(), entropy, event, effects);
    for (const Effect& effect : effects) did.push_back(Does(effect));
  }
  std::string Does(const Effect& effect) {
    if (const auto* run = std::get_if<RunTransaction>(&effect)) {
      EXPECT_FALSE(running.contains(run->request)) << "the request is not free";
      running[run->request] = run->transaction;
      return "run " + std::string(WordOf(run->transaction.step));
    }
    if (const auto* set = std::get_if<SetTimer>(&effect)) {
      timers[set->timer] = set->at;
      return (set->timer == kPoll ? "poll at " : "beat at ") +
             FormatDuration(set->at - LocalInstant{});
    }
    if (const auto* cancel = std::get_if<CancelTimer>(&effect)) {
      timers.erase(cancel->timer);
      return cancel->timer == kPoll ? "no poll" : "no beat";
    }
    if (const auto* given_up = std::get_if<CancelTransaction>(&effect)) {
      return "cancel " + std::string(WordOf(running.at(given_up->request).step));
    }
    if (const auto* changed = std::get_if<LeadershipChanged>(&effect)) {
      return changed->leader ? "callback 1" : "callback 0";
    }
    if (const auto* answer = std::get_if<Answer>(&effect)) {
      std::string text = std::string(WordOf(answer->question)) + (answer->yes ? " yes" : " no");
      if (answer->token) text += " with a token";
      if (!answer->text.empty()) text += " '" + answer->text + "'";
      if (answer->number != 0) text += " " + std::to_string(answer->number);
      return text;
    }
    return "note " + std::string(WordOf(std::get<Note>(effect).note));
  }
};

// Has the lock from 0 on, until 12 s.
void Holds(User& user) {
  user.Starts();
  user.Gets();
}

// --- words -------------------------------------------------------------------------------------

TEST(LeaseLockConfigTest, PromisesNothingOfTokensAndNothingThatOnlyAFenceCanKeep) {
  const ProtocolInfo info = Info();
  EXPECT_THAT(
      InvariantsThatAre(Promise::kPromised, info),
      ElementsAre(Invariant::kHasLockTruthful, Invariant::kLeaseRespected, Invariant::kIsolation,
                  Invariant::kNoWedge, Invariant::kNoWorkAfterRelease));
  EXPECT_THAT(InvariantsThatAre(Promise::kNotPromised, info),
              ElementsAre(Invariant::kSingleLeaderBelief, Invariant::kSingleWorker));
  EXPECT_FALSE(info.has_tokens);
  EXPECT_TRUE(info.answers_locally);
}

TEST(LeaseLockConfigTest, HostsRunItWithGosRetries) {
  ExpectHostedWithGosRetries<State>("lease_lock", 3);
}

TEST(LeaseLockConfigTest, AMissingOwnerIsDrawnAsAUuid) {
  User unnamed(MakeTestConfig(""));
  unnamed.entropy.next = {0x0123'4567, 0x89ab'cdef, 0x0fed'cba9, 0x7654'3210};
  unnamed.Starts();
  EXPECT_EQ(unnamed.state.id, "01234567-89ab-4def-8fed-cba976543210");
}

// --- polling -----------------------------------------------------------------------------------

TEST(LeaseLockPollTest, TheNextComesAfterThePartOfALeaseThatTheConfigurationSays) {
  // Exploration on a coarse grid of time needs other numbers than those that ship.
  User user;
  user.config.constants.polls_in_lease = 2;
  user.Starts();
  user.PollFails();
  EXPECT_THAT(user.did, ElementsAre("note claim failed", "poll at 6s"));
}

TEST(LeaseLockPollTest, ComesEveryQuarterOfALease) {
  User user;
  user.Starts();
  EXPECT_THAT(user.did, ElementsAre("run acquire"));
  user.Passes(Milliseconds(20));
  user.PollFails();
  EXPECT_THAT(user.did, ElementsAre("note claim failed", "poll at 3s"));
  user.TimerFires(kPoll);
  EXPECT_THAT(user.did, ElementsAre("run acquire"));
  user.Passes(Seconds(5));
  user.PollFails(Outcome::kUnknown);
  EXPECT_THAT(user.did, ElementsAre("note claim failed", "poll at 8s")) << "it took longer";
  EXPECT_EQ(user.state.polls, 2);
}

TEST(LeaseLockPollTest, AsksOnceWhomItWaitsFor) {
  // That is what GetCurrentLock is for, and asking at each poll would say nothing new.
  User user;
  user.Starts();
  user.FindsItTaken();
  EXPECT_THAT(user.did, ElementsAre("run get", "poll at 3s"));
  user.IsFound(kStarvationRequest, "b");
  EXPECT_THAT(user.did, ElementsAre("note held by another"));
  user.TimerFires(kPoll);
  user.FindsItTaken();
  EXPECT_THAT(user.did, ElementsAre("poll at 6s"));
}

TEST(LeaseLockPollTest, DoesNotAskTwiceAtOnce) {
  // The first question may still be under way when the lock was had and lost in between.
  User user;
  user.Starts();
  user.FindsItTaken();
  user.TimerFires(kPoll);
  user.Gets();
  user.TimerFires(kBeat);
  user.BeatFindsAnother();
  user.FindsItTaken();
  EXPECT_THAT(user.did, ElementsAre("poll at 10s"));
}

// --- holding -----------------------------------------------------------------------------------

TEST(LeaseLockHoldTest, HeartbeatsEveryThirdOfALease) {
  User user;
  user.Starts();
  user.Passes(Milliseconds(20));
  user.Gets();
  EXPECT_THAT(user.did, ElementsAre("note got the lock", "callback 1", "beat at 4.02s"));
  user.TimerFires(kBeat);
  EXPECT_THAT(user.did, ElementsAre("run heartbeat"));
  user.Beats();
  EXPECT_THAT(user.did, ElementsAre("beat at 8.02s"));
  EXPECT_EQ(user.state.lock->leased_until, At(Milliseconds(16'020)));
}

TEST(LeaseLockHoldTest, BelievesUntilItsWallClockShowsTheEnd) {
  // The lease counts from the call, not from its answer.
  User user;
  user.Starts();
  user.Passes(Seconds(2));
  user.Gets();
  EXPECT_EQ(StandingOf(user.state, user.Clocks()).believes_until, ShownAfter(Seconds(12)));
  user.Passes(Seconds(10) - Nanoseconds(1));
  EXPECT_TRUE(user.Believes());
  user.Passes(Nanoseconds(1));
  EXPECT_FALSE(user.Believes());
  EXPECT_FALSE(StandingOf(user.state, user.Clocks()).answers);
}

TEST(LeaseLockHoldTest, AWallClockThatIsSetMovesTheEnd) {
  User user;
  Holds(user);
  user.wall_ahead = Seconds(-30);
  EXPECT_EQ(StandingOf(user.state, user.Clocks()).believes_until, ShownAfter(Seconds(42)));
  user.wall_ahead = Seconds(30);
  EXPECT_FALSE(user.Believes());
}

TEST(LeaseLockHoldTest, AHeartbeatAfterTheEndBringsTheBeliefBack) {
  // Nobody else had the lock meanwhile, or it would have failed.
  User user;
  Holds(user);
  user.TimerFires(kBeat);
  user.Passes(Seconds(20));
  EXPECT_FALSE(user.Believes());
  user.Beats();
  EXPECT_FALSE(user.Believes()) << "its lease counts from before it hung";
  user.TimerFires(kBeat);
  user.Beats();
  EXPECT_TRUE(user.Believes());
}

TEST(LeaseLockHoldTest, AnyErrorOfAHeartbeatEndsIt) {
  // It reports the error and stops; the user begins anew.
  User user;
  Holds(user);
  user.TimerFires(kBeat);
  user.BeatFails();
  EXPECT_THAT(user.did, ElementsAre("note heartbeat failed", "note lost the lock", "callback 0",
                                    "run acquire"));
  EXPECT_FALSE(user.Believes());
  user.Gets();
  EXPECT_TRUE(user.Believes()) << "its own row is not in its way";
}

// --- questions ---------------------------------------------------------------------------------

TEST(LeaseLockQuestionTest, HasLockIsAnsweredFromWhatItKnows) {
  User user;
  user.Starts();
  user.Asks(Question::kHasLock);
  EXPECT_THAT(user.did, ElementsAre("HasLock no"));
  user.Gets();
  user.Asks(Question::kHasLock);
  EXPECT_THAT(user.did, ElementsAre("HasLock yes")) << "there is no token to hand out";
  user.Asks(Question::kHasLock2);
  EXPECT_THAT(user.did, ElementsAre("HasLock2 yes 'a'"));
  user.Passes(Seconds(12));
  user.Asks(Question::kHasLock);
  EXPECT_THAT(user.did, ElementsAre("HasLock no"));
}

TEST(LeaseLockQuestionTest, LeaderIsTheCurrentLocksOwner) {
  User user;
  Holds(user);
  user.Asks(Question::kLeader, 2);
  EXPECT_THAT(user.did, ElementsAre("run get"));
  user.IsFound(kFirstAskRequest + 2, "b");
  EXPECT_THAT(user.did, ElementsAre("Leader yes 'b'"));
  user.Asks(Question::kLeader, 2);
  user.IsNotFound(kFirstAskRequest + 2);
  EXPECT_THAT(user.did, ElementsAre("Leader no"));
}

TEST(LeaseLockQuestionTest, TellsItsLeaseAndItsPolls) {
  User user;
  Holds(user);
  user.Asks(Question::kDuration);
  EXPECT_THAT(user.did, ElementsAre("Duration yes 12000"));
  user.Asks(Question::kIterations);
  EXPECT_THAT(user.did, ElementsAre("Iterations yes 1"));
  user.Asks(Question::kLock);
  EXPECT_THAT(user.did, ElementsAre("Lock no 'lease_lock has no blocking Lock()'"));
}

// --- the stop ----------------------------------------------------------------------------------

TEST(LeaseLockStopTest, ReleasesWhenTheWorkHasStopped) {
  User user;
  Holds(user);
  user.Stops();
  EXPECT_THAT(user.did, ElementsAre("no poll", "no beat", "callback 0"));
  EXPECT_FALSE(user.Believes());
  user.WorkStops();
  EXPECT_THAT(user.did, ElementsAre("run release"));
  user.ReleaseEnds();
  EXPECT_THAT(user.did, IsEmpty());
  user.WorkStops();
  EXPECT_THAT(user.did, IsEmpty());
}

TEST(LeaseLockStopTest, ReleasesByItsClockOfThatMoment) {
  // Finding L2 needs no more: what counts as expired is judged at the release.
  User user;
  Holds(user);
  user.wall_ahead = Seconds(30);
  user.Stops();
  user.WorkStops();
  EXPECT_EQ(user.running.at(kReleaseRequest).statements.front().statement.parameters,
            (std::vector<Value>{std::string("job"), At(Seconds(30))}));
}

TEST(LeaseLockStopTest, CancelsWhatIsUnderWay) {
  User polling;
  polling.Starts();
  polling.Stops();
  EXPECT_THAT(polling.did, ElementsAre("no poll", "no beat", "cancel acquire"));
  polling.WorkStops();
  EXPECT_THAT(polling.did, IsEmpty());
  polling.PollFails(Outcome::kUnknown);
  EXPECT_THAT(polling.did, IsEmpty());
  User beating;
  Holds(beating);
  beating.TimerFires(kBeat);
  beating.Stops();
  EXPECT_THAT(beating.did, ElementsAre("no poll", "no beat", "cancel heartbeat", "callback 0"));
  beating.WorkStops();
  EXPECT_THAT(beating.did, ElementsAre("run release"));
  beating.BeatFindsAnother();
  EXPECT_THAT(beating.did, IsEmpty());
}

TEST(LeaseLockStopTest, ReleasesWhatComesInTheMomentOfTheStop) {
  User user;
  user.Starts();
  user.Stops();
  user.WorkStops();
  user.Gets();
  EXPECT_THAT(user.did, ElementsAre("run release"));
}

TEST(LeaseLockStopTest, ReleasesAlsoAfterAnErrorUnlessAnotherHasTheLock) {
  // "Any other error type could indicate that the caller still holds the lock."
  User unsure;
  Holds(unsure);
  unsure.TimerFires(kBeat);
  unsure.BeatFails();
  unsure.Stops();
  unsure.WorkStops();
  EXPECT_THAT(unsure.did, ElementsAre("run release"));
  unsure.ReleaseEnds(/*taken=*/true);
  EXPECT_THAT(unsure.did, ElementsAre("note release failed"));
  User sure;
  Holds(sure);
  sure.TimerFires(kBeat);
  sure.BeatFindsAnother();
  sure.Stops();
  sure.WorkStops();
  EXPECT_THAT(sure.did, IsEmpty());
}

// --- the state as a value ----------------------------------------------------------------------

TEST(LeaseLockStateTest, IsTheSameAfterTheSameEvents) {
  const auto fingerprint = [](const State& state) {
    Fingerprint of;
    of.Add(state);
    return of.value();
  };
  User one;
  Holds(one);
  User other;
  Holds(other);
  EXPECT_EQ(one.state, other.state);
  EXPECT_EQ(fingerprint(one.state), fingerprint(other.state));
  other.TimerFires(kBeat);
  EXPECT_NE(one.state, other.state);
  EXPECT_NE(fingerprint(one.state), fingerprint(other.state));
}

}  // namespace
}  // namespace whorl::lease_lock::lease_lock_test
