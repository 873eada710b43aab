// spindle_v3: its words (configuration, statements), the rounds of a follower and of a leader, the
// adaptive buffer and the wake-ups, the local deadline, the stop, the questions, and the state as a
// value.
#include "protocol/spindle_v3/spindle_v3.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/protocol.h"
#include "protocol/spanner/fingerprint.h"
#include "protocol/spindle_v3/info.h"
#include "protocol/spindle_v3/words.h"
#include "tests/protocol/protocol_testing.h"

namespace whorl::spindle_v3::spindle_v3_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Config MakeTestConfig(Duration lease = Seconds(10), std::string id = "a") {
  return MakeConfig("locktable", "job", std::move(id), lease);
}

// One process under a test's hands: verbs for what happens to it, and one line of text for each
// thing that it does. Time stands still unless a verb moves it; `did` holds what the last verb led
// to. Delays are drawn as nothing unless `entropy.next` says otherwise.
class Process {
 public:
  explicit Process(Config with = MakeTestConfig()) : config(std::move(with)) {}

  void Starts() { Hears(Started{}); }
  void Stops(StopReason reason = StopReason::kCancelled) { Hears(StopRequested{.reason = reason}); }
  void WorkStops() { Hears(WorkStopped{}); }
  void Asks(Question question) { Hears(Asked{.ask = 1, .question = question}); }
  void Passes(Duration time) { now += time; }
  // The timer fires at the time for which it was set.
  void Wakes() {
    ASSERT_TRUE(wake.has_value()) << "no timer is set";
    now = std::max(now, *std::exchange(wake, std::nullopt));
    Hears(TimerFired{.timer = kWake});
  }

  // The reply to the look, or the rows that an acquire ended by.
  void SeesNoRow() { Ends(Found({})); }
  void Sees(Value owner, Duration age) {
    Ends(Found({{std::move(owner), At(Seconds(100)) - age, At(Seconds(100))}}));
  }
  void SeesRow(Row row) { Ends(Found({std::move(row)})); }
  void AcquireFindsHolder(Duration age) {
    TransactionResult result = Failed(Code::kFailedPrecondition);
    result.results = {{.rows = {{std::string("b"), At(Seconds(100)) - age, At(Seconds(100))}}}};
    Ends(std::move(result));
  }
  void Commits(Timestamp at) {
    Ends({.outcome = Outcome::kCommitted,
          .status = {},
          .results = {{.row_count = 1}},
          .commit_timestamp = at});
  }
  void Fails(Code code = Code::kInternal) { Ends(Failed(code)); }
  void EndsUnknown() {
    TransactionResult result = Failed(Code::kDeadlineExceeded);
    result.outcome = Outcome::kUnknown;
    result.results = {{.row_count = 1}};
    Ends(std::move(result));
  }
  void FindsNoRowToUpdate() {
    TransactionResult result = Failed(Code::kFailedPrecondition);
    result.results = {{.row_count = 0}};
    Ends(std::move(result));
  }
  void ReleaseEnds() {
    Hears(TransactionEnded{.request = kReleaseRequest, .step = steps::kRelease, .result = {}});
  }

  bool Believes() const { return StandingOf(state).believes; }
  // From the end of the round to the next wake-up.
  Duration Pause() const { return wake.value_or(LocalInstant{}) - now; }

  Config config;
  State state;
  ScriptedEntropy entropy;
  LocalInstant now;
  std::vector<std::string> did;
  Transaction running;  // asked for last
  std::optional<LocalInstant> wake;

 private:
  void Ends(TransactionResult result) {
    Hears(TransactionEnded{
        .request = kRoundRequest, .step = running.step, .result = std::move(result)});
  }
  void Hears(const Event& event) {
    if (entropy.next.empty()) entropy.next.push_back(0);
    did.clear();
    std::vector<Effect> effects;
    Step(config, state, {.monotonic = now, .wall = {}}, entropy, event, effects);
    for (const Effect& effect : effects) did.push_back(Does(effect));
  }
  std::string Does(const Effect& effect) {
    if (const auto* run = std::get_if<RunTransaction>(&effect)) {
      running = run->transaction;
      return "run " + std::string(WordOf(running.step));
    }
    if (const auto* set = std::get_if<SetTimer>(&effect)) {
      wake = set->at;
      return "wake at " + FormatDuration(set->at - LocalInstant{});
    }
    if (const auto* changed = std::get_if<LeadershipChanged>(&effect)) {
      return changed->leader ? "callback 1" : "callback 0";
    }
    if (const auto* answer = std::get_if<Answer>(&effect)) return AnswerText(*answer);
    if (const auto* note = std::get_if<Note>(&effect)) {
      return "note " + std::string(WordOf(note->note));
    }
    if (std::holds_alternative<CancelTransaction>(effect)) return "cancel transaction";
    wake.reset();
    return "cancel timer";
  }
  static std::string AnswerText(const Answer& answer) {
    std::string text = std::string(WordOf(answer.question)) + (answer.yes ? " yes" : " no");
    if (answer.token) text += " token=" + std::to_string(*answer.token);
    if (!answer.text.empty()) text += " '" + answer.text + "'";
    if (answer.number != 0) text += " " + std::to_string(answer.number);
    return text;
  }
};

// Wins the absent row: the acquire's reply comes at 0, with this token.
void Wins(Process& process, Timestamp token = At(Duration{})) {
  process.Starts();
  process.SeesNoRow();
  process.Commits(token);
}

// --- words -------------------------------------------------------------------------------------

TEST(SpindleV3ConfigTest, TheLeaseIsInWholeSecondsAndAtLeastFive) {
  // Upstream's unit is the second; less than five is raised with a line in the log.
  EXPECT_EQ(MakeTestConfig(Seconds(10)).lease, Seconds(10));
  EXPECT_EQ(MakeTestConfig(Milliseconds(7'900)).lease, Seconds(7));
  EXPECT_EQ(MakeTestConfig(Milliseconds(200)).lease, Seconds(5));
  EXPECT_EQ(MakeTestConfig(Seconds(-1)).lease, Seconds(5));
  Process process(MakeTestConfig(Seconds(2)));
  process.Starts();
  EXPECT_THAT(process.did, ElementsAre("note lease raised to its minimum", "run look"));
}

TEST(SpindleV3ConfigTest, AMissingIdIsDrawnAsAUuid) {
  // Ids tell owners apart: two that are the same both lead (finding V4).
  Process unnamed(MakeTestConfig(Seconds(10), ""));
  unnamed.entropy.next = {0x0123'4567, 0x89ab'cdef, 0x0fed'cba9, 0x7654'3210};
  unnamed.Starts();
  EXPECT_EQ(unnamed.state.id, "01234567-89ab-4def-8fed-cba976543210");
}

TEST(SpindleV3ConfigTest, PromisesOnlyWhatHolds) {
  // The rest is what the findings break.
  const ProtocolInfo info = Info();
  EXPECT_THAT(
      InvariantsThatAre(Promise::kPromised, info),
      ElementsAre(Invariant::kOneLiveToken, Invariant::kTokenMonotonic, Invariant::kLeaseRespected,
                  Invariant::kFencedWritesOrdered, Invariant::kIsolation, Invariant::kNoWedge));
  for (const PromiseLimit& limit : info.promise_limits) {
    EXPECT_EQ(limit.invariant, Invariant::kLeaseRespected) << WordOf(limit.circumstance);
  }
  EXPECT_EQ(info.lease_min, Seconds(5));
  EXPECT_TRUE(info.answers_locally);
}

TEST(SpindleV3ConfigTest, HostsRunItWithGosRetries) {
  ExpectHostedWithGosRetries<State>("spindle_v3", 3);
}

TEST(SpindleV3StatementTest, HeartbeatAndReleaseNameTokenAndOwner) {
  // That is what makes who was superseded notice, and what spindle v2 lacks.
  const Config config = MakeTestConfig();
  const auto condition = [](const Sql& sql) { return sql.text().substr(sql.text().find("WHERE")); };
  EXPECT_EQ(condition(config.heartbeat),
            "WHERE name = @name AND token = @token AND owner = @owner");
  EXPECT_EQ(condition(config.release), condition(config.heartbeat));
  Process process;
  Wins(process, At(Seconds(3)));
  process.Wakes();
  EXPECT_EQ(process.running.statements.front().statement.parameters,
            (std::vector<Value>{std::string("job"), At(Seconds(3)), std::string("a")}));
  EXPECT_EQ(process.running.body, Body{IfRowChanged{}});
  EXPECT_EQ(process.running.mode, Mode::kReadWrite);
}

TEST(SpindleV3StatementTest, TheAcquireReadsTestsAndWritesInOneTransaction) {
  // Nothing can come between the test and the write, and the token is the commit timestamp.
  Process process;
  process.Starts();
  EXPECT_EQ(process.running.mode, Mode::kStrongRead) << "a look takes no locks";
  process.SeesNoRow();
  const Transaction& acquire = process.running;
  EXPECT_EQ(acquire.mode, Mode::kReadWrite);
  EXPECT_EQ(acquire.statements.front().statement.sql, process.config.look);
  EXPECT_EQ(acquire.body, (Body{UnlessHeld{.me = "a", .lease = Seconds(10)}}));
  ASSERT_EQ(acquire.mutations.size(), 1U);
  EXPECT_EQ(acquire.mutations[0].kind, MutationKind::kInsertOrUpdate);
  EXPECT_THAT(acquire.mutations[0].columns, ElementsAre("name", "owner", "token"));
  EXPECT_EQ(acquire.mutations[0].rows.front(),
            (Row{std::string("job"), std::string("a"), std::string(kCommitTimestamp)}));
  EXPECT_EQ(acquire.give_up_at, std::nullopt) << "only the context of Run bounds it";
}

// --- the test of the acquire -------------------------------------------------------------------

TEST(SpindleV3HolderTest, IsAnotherWhoseTokenIsYoungerThanTheLease) {
  // At the very end of the lease it is free.
  const UnlessHeld test = {.me = "a", .lease = Seconds(10)};
  const auto holder = [&](Value owner, Duration age) {
    return HolderIn({{std::move(owner), At(Duration{}), At(age)}}, test);
  };
  EXPECT_EQ(holder(std::string("b"), Nanoseconds(9'999'999'999)).kind, HolderKind::kAnother);
  EXPECT_EQ(holder(std::string("b"), Nanoseconds(9'999'999'999)).age, Nanoseconds(9'999'999'999));
  EXPECT_EQ(holder(std::string("b"), Seconds(10)).kind, HolderKind::kNone);
  EXPECT_EQ(holder(std::string("b"), Milliseconds(-3)).kind, HolderKind::kAnother)
      << "a clock behind the token takes nothing, other than in spindle v2";
  EXPECT_EQ(holder(std::string("a"), Duration{}).kind, HolderKind::kNone)
      << "an own row is taken whatever its age (V3, V4)";
  EXPECT_EQ(holder(Null{}, Seconds(99)).kind, HolderKind::kUnreadable);
  EXPECT_EQ(HolderIn({{std::string("b"), Null{}, At(Duration{})}}, test).kind,
            HolderKind::kUnreadable);
  EXPECT_EQ(HolderIn({}, test).kind, HolderKind::kNone);
}

TEST(SpindleV3HolderTest, EndsTheTransactionBeforeAnythingIsWritten) {
  // Continue() is what the client asks after each answer.
  Process process;
  process.Starts();
  process.SeesNoRow();
  const auto next = [&](Row row) {
    const std::vector<StatementResult> heard = {{.rows = {std::move(row)}}};
    return Continue(process.running, heard);
  };
  EXPECT_TRUE(std::holds_alternative<SayStatement>(Continue(process.running, {})));
  EXPECT_TRUE(std::holds_alternative<SayRollback>(
      next({std::string("b"), At(Duration{}), At(Seconds(9))})));
  EXPECT_TRUE(std::holds_alternative<SayRollback>(next({Null{}, At(Duration{}), At(Seconds(9))})));
  EXPECT_EQ(next({std::string("b"), At(Duration{}), At(Seconds(10))}), Said{SayCommit{}});
  const std::vector<StatementResult> no_row = {{}};
  EXPECT_EQ(Continue(process.running, no_row), Said{SayCommit{}});
}

TEST(SpindleV3HolderTest, AHeartbeatOfNoRowIsRolledBack) {
  // As upstream's closure, which returns an error when the UPDATE changed nothing.
  Process process;
  Wins(process);
  process.Wakes();
  const std::vector<StatementResult> none = {{.row_count = 0}};
  const std::vector<StatementResult> one = {{.row_count = 1}};
  EXPECT_TRUE(std::holds_alternative<SayRollback>(Continue(process.running, none)));
  EXPECT_EQ(Continue(process.running, one), Said{SayCommit{}});
}

// --- followers ---------------------------------------------------------------------------------

TEST(SpindleV3FollowerTest, LooksAtOnceAndTakesAFreeLockInTheSameRound) {
  // The winner is told at once, other than in spindle v2.
  Process process;
  process.Starts();
  EXPECT_THAT(process.did, ElementsAre("run look"));
  process.SeesNoRow();
  EXPECT_THAT(process.did, ElementsAre("run acquire"));
  EXPECT_FALSE(process.Believes());
  process.Commits(At(Seconds(1)));
  EXPECT_THAT(process.did, ElementsAre("note got the lock", "callback 1", "wake at 4.5s"));
  EXPECT_TRUE(process.Believes());
  EXPECT_EQ(process.state.own_token, At(Seconds(1)));
}

TEST(SpindleV3FollowerTest, TheBufferIsThatOfTheConfiguration) {
  // Exploration on a coarse grid of time needs other numbers than those that ship.
  Process process;
  process.config.constants.buffer_min = Seconds(2);
  process.Starts();
  process.Sees(std::string("b"), Seconds(3));
  EXPECT_THAT(process.did, ElementsAre("callback 0", "wake at 5s"));
}

TEST(SpindleV3FollowerTest, SleepsUntilTheLeaseThatItSawIsOver) {
  // L - age + U[0, L/7) - b, with b at its floor of L/20.
  Process process;
  process.Starts();
  process.entropy.next = {Milliseconds(900).ns};
  process.Sees(std::string("b"), Seconds(3));
  EXPECT_THAT(process.did, ElementsAre("callback 0", "wake at 7.4s"));
  EXPECT_EQ(process.entropy.draws.back(),
            (ScriptedEntropy::Draw{
                .purpose = purposes::kWakeDelay, .lo = 0, .hi = Seconds(10).ns / 7 - 1}));
}

TEST(SpindleV3FollowerTest, CallsBackWithZeroAfterItsFirstRoundOnly) {
  // Users of the callback hear once that they do not lead.
  Process process;
  process.Starts();
  process.Sees(std::string("b"), Seconds(3));
  EXPECT_EQ(process.did.front(), "callback 0");
  process.Wakes();
  process.Sees(std::string("b"), Seconds(1));
  EXPECT_THAT(process.did, ElementsAre("wake at 15s"));
}

TEST(SpindleV3FollowerTest, AfterAnErrorItSleepsTheBufferAndADelay) {
  // b + U - b, and never less than b.
  Process process;
  process.Starts();
  process.entropy.next = {Milliseconds(800).ns};
  process.Fails();
  EXPECT_EQ(process.Pause(), Milliseconds(800));
  process.Wakes();
  process.entropy.next = {Milliseconds(200).ns};
  process.Fails();
  EXPECT_EQ(process.Pause(), Milliseconds(500));
}

TEST(SpindleV3FollowerTest, AnAcquireThatFindsAHolderCountsFromItsAge) {
  // Another one won since the look: the lease that is waited for is the winner's.
  Process process;
  process.Starts();
  process.SeesNoRow();
  process.AcquireFindsHolder(Milliseconds(40));
  EXPECT_THAT(process.did, ElementsAre("note claim failed", "callback 0", "wake at 9.46s"));
  EXPECT_FALSE(process.Believes());
}

TEST(SpindleV3FollowerTest, AnAcquireWhoseOutcomeIsUnknownIsAFailure) {
  // It may own the row without knowing; its next look finds its own row and takes it again.
  Process process;
  process.Starts();
  process.SeesNoRow();
  process.EndsUnknown();
  EXPECT_FALSE(process.Believes());
  EXPECT_EQ(process.Pause(), Milliseconds(500));
  process.Wakes();
  process.Sees(std::string("a"), Seconds(1));
  EXPECT_THAT(process.did, ElementsAre("run acquire"));
}

TEST(SpindleV3FollowerTest, ARowWithNullsIsAnErrorThatIsTriedAgain) {
  // Go's client cannot put NULL into a string or a time.
  Process process;
  process.Starts();
  process.SeesRow({Null{}, At(Duration{}), At(Seconds(60))});
  EXPECT_THAT(process.did,
              ElementsAre("note the row cannot be read", "callback 0", "wake at 500ms"));
}

// --- the buffer and the leader's wake-ups ------------------------------------------------------

TEST(SpindleV3BufferTest, IsThreeLatenciesWithinItsBounds) {
  // clamp(3 x latency, max(50 ms, L/20), L/3).
  EXPECT_EQ(BufferFor(Constants{}, Seconds(10), Duration{}), Milliseconds(500));
  EXPECT_EQ(BufferFor(Constants{}, Seconds(10), Milliseconds(200)), Milliseconds(600));
  EXPECT_EQ(BufferFor(Constants{}, Seconds(9), Seconds(2)), Seconds(3));
  EXPECT_EQ(BufferFor(Constants{}, Milliseconds(600), Duration{}), Milliseconds(50))
      << "whatever the lease";
}

TEST(SpindleV3BufferTest, LatencyIsSmoothedSevenToThree) {
  // The first one is taken as it is.
  EXPECT_EQ(Smoothed(Constants{}, Duration{}, Milliseconds(100)), Milliseconds(100));
  EXPECT_EQ(Smoothed(Constants{}, Milliseconds(100), Milliseconds(200)), Milliseconds(130));
}

TEST(SpindleV3BufferTest, GrowsWithTheRoundsThatWereMeasured) {
  // A slow database makes everybody start earlier.
  Process process;
  process.Starts();
  process.Passes(Milliseconds(400));
  process.SeesNoRow();
  process.Passes(Milliseconds(600));
  process.Commits(At(Seconds(1)));
  EXPECT_EQ(process.state.latency, Seconds(1)) << "look and acquire are one round";
  EXPECT_EQ(process.state.buffer, Seconds(3));
  EXPECT_EQ(process.Pause(), Seconds(3)) << "5 s - 1 s - 3 s is less than the buffer";
}

TEST(SpindleV3LeaderTest, BeatsHalfALeaseAfterTheRoundBegan) {
  // L/2 - elapsed - b after a success.
  Process process;
  process.Starts();
  process.SeesNoRow();
  process.Passes(Milliseconds(100));
  process.Commits(At(Duration{}));
  EXPECT_EQ(process.Pause(), Milliseconds(5'000 - 100 - 500));
  process.Wakes();
  EXPECT_THAT(process.did, ElementsAre("run heartbeat"));
  process.Passes(Milliseconds(100));
  process.Commits(At(Seconds(5)));
  EXPECT_THAT(process.did, ElementsAre("wake at 9s")) << "no callback: nothing has changed";
  EXPECT_EQ(process.state.own_token, At(Seconds(5))) << "the commit timestamp of the heartbeat";
}

TEST(SpindleV3LeaderTest, TheHeartbeatsDeadlineEndsABufferBeforeTheLease) {
  // max(100 ms, L - since last success - b), from the reply of the last success on.
  Process process;
  Wins(process);
  process.Wakes();
  EXPECT_EQ(process.now, ShownAfter(Milliseconds(4'500)));
  EXPECT_EQ(process.running.give_up_at, ShownAfter(Milliseconds(9'500)));
  process.Fails();
  process.Passes(Milliseconds(4'950));  // 9.45 s after the success
  process.Wakes();
  EXPECT_EQ(process.running.give_up_at, process.now + Milliseconds(100));
}

TEST(SpindleV3LeaderTest, AfterAnErrorItSleepsAQuarterOfTheLease) {
  // max(b, L/4) - b.
  Process process;
  Wins(process);
  process.Wakes();
  process.Fails();
  EXPECT_THAT(process.did, ElementsAre("note heartbeat failed", "wake at 6.5s"));
  EXPECT_TRUE(process.Believes());
}

TEST(SpindleV3LeaderTest, NeverSleepsLessThanTheBuffer) {
  // With the buffer at its ceiling a quarter of the lease is less than that.
  Process process;
  process.Starts();
  process.Passes(Seconds(4));
  process.SeesNoRow();
  process.Commits(At(Duration{}));
  const Duration ceiling = Seconds(10) / 3;
  EXPECT_EQ(process.Pause(), ceiling);
  process.Wakes();
  process.Fails();
  EXPECT_EQ(process.Pause(), ceiling);
}

// --- how a leader stops to be one --------------------------------------------------------------

TEST(SpindleV3LeaderTest, SupersededItStepsDownAtOnce) {
  // Zero rows: the token or the owner is another, or the row is gone.
  Process process;
  Wins(process);
  process.Wakes();
  process.FindsNoRowToUpdate();
  EXPECT_THAT(process.did, ElementsAre("note heartbeat failed", "note lost the lock", "callback 0",
                                       "wake at 5s"));
  EXPECT_FALSE(process.Believes());
  EXPECT_EQ(process.state.own_token, At(Duration{})) << "never cleared";
  process.Wakes();
  EXPECT_THAT(process.did, ElementsAre("run look"));
}

TEST(SpindleV3LeaderTest, StepsDownWhenTheLeaseMightEndBeforeTheNextTry) {
  // (time since last success + b) >= L, looked at only when a heartbeat has failed.
  for (const Duration after : {Nanoseconds(9'499'999'999), Milliseconds(9'500)}) {
    Process process;
    Wins(process);
    process.Wakes();
    process.Passes(ShownAfter(after) - process.now);
    process.Fails(Code::kDeadlineExceeded);
    EXPECT_EQ(process.Believes(), after < Milliseconds(9'500)) << FormatDuration(after);
  }
}

TEST(SpindleV3LeaderTest, HeartbeatsThatFailFastOverstayTheLease) {
  // Finding V1: failures at 4.5, 6.5 and 8.5 s are all too early, and the next is at 10.5 s.
  Process process;
  Wins(process);
  for (const Duration at : {Milliseconds(4'500), Milliseconds(6'500), Milliseconds(8'500)}) {
    process.Wakes();
    EXPECT_EQ(process.now, ShownAfter(at));
    process.Fails();
    EXPECT_TRUE(process.Believes());
  }
  process.Wakes();
  EXPECT_EQ(process.now, ShownAfter(Milliseconds(10'500)));
  EXPECT_TRUE(process.Believes()) << "half a second after the lease";
  process.Fails();
  EXPECT_FALSE(process.Believes());
}

TEST(SpindleV3LeaderTest, ItsDeadlineCountsFromTheReply) {
  // Finding V2: the reply came 4 s after the Commit was sent, and the lease is counted from it.
  Process process;
  Wins(process);
  process.Wakes();
  process.Passes(Seconds(4));
  process.Commits(At(Milliseconds(4'500)));
  EXPECT_EQ(process.state.last_success, ShownAfter(Milliseconds(8'500)));
}

TEST(SpindleV3LeaderTest, AnUnknownHeartbeatLeavesTheOldToken) {
  // Finding V3: it may have committed; the next heartbeat, with the old token, then finds no row.
  Process process;
  Wins(process, At(Seconds(1)));
  process.Wakes();
  process.Passes(Seconds(1));
  process.EndsUnknown();
  EXPECT_TRUE(process.Believes());
  process.Wakes();
  EXPECT_EQ(process.running.statements.front().statement.parameters[1], Value{At(Seconds(1))});
  process.FindsNoRowToUpdate();
  EXPECT_FALSE(process.Believes());
  process.Wakes();
  process.Sees(std::string("a"), Seconds(2));
  EXPECT_THAT(process.did, ElementsAre("run acquire")) << "its own row, however young";
}

TEST(SpindleV3LeaderTest, APausedLeaderStillLeads) {
  // Nothing but the end of a round or a stop ends the leader's context: no timer does.
  Process process;
  Wins(process);
  process.Passes(Seconds(60));
  EXPECT_TRUE(process.Believes());
  EXPECT_EQ(StandingOf(process.state).believes_until, std::nullopt);
}

// --- the stop ----------------------------------------------------------------------------------

TEST(SpindleV3StopTest, TheContextEndsAndTheRowIsDeletedWithoutWaitingForTheWork) {
  // Finding V6: WorkStopped is never waited for. Callback 0 comes when the DELETE is over.
  Process process;
  Wins(process, At(Seconds(1)));
  process.Passes(Seconds(2));
  process.Stops();
  EXPECT_THAT(process.did, ElementsAre("cancel timer", "run release"));
  EXPECT_FALSE(process.Believes());
  EXPECT_EQ(process.running.statements.front().statement.parameters,
            (std::vector<Value>{std::string("job"), At(Seconds(1)), std::string("a")}));
  EXPECT_EQ(process.running.give_up_at, ShownAfter(Seconds(7))) << "5 s";
  process.WorkStops();
  EXPECT_THAT(process.did, IsEmpty());
  process.ReleaseEnds();
  EXPECT_THAT(process.did, ElementsAre("callback 0"));
  process.Stops();
  EXPECT_THAT(process.did, IsEmpty());
}

TEST(SpindleV3StopTest, WhatIsUnderWayIsCancelledAndNotHeardOf) {
  // The DELETE names the old token even if the heartbeat commits after all.
  Process process;
  Wins(process, At(Seconds(1)));
  process.Wakes();
  process.Stops(StopReason::kDeadline);
  EXPECT_THAT(process.did, ElementsAre("cancel transaction", "run release"));
  EXPECT_EQ(process.running.statements.front().statement.parameters[1], Value{At(Seconds(1))});
  process.Commits(At(Seconds(9)));
  EXPECT_THAT(process.did, IsEmpty());
  EXPECT_EQ(process.state.own_token, At(Seconds(1)));
}

TEST(SpindleV3StopTest, AFollowerJustEnds) {
  // It has nothing to give back, and an acquire under way is cancelled.
  Process process;
  process.Starts();
  process.SeesNoRow();
  process.Stops();
  EXPECT_THAT(process.did, ElementsAre("cancel transaction"));
  process.Commits(At(Seconds(1)));
  EXPECT_THAT(process.did, IsEmpty());
  EXPECT_FALSE(process.Believes());
}

// --- questions and the state -------------------------------------------------------------------

TEST(SpindleV3QuestionTest, AreAnsweredFromWhatTheProcessKnows) {
  // The token is the one that the callback hands out: nanoseconds since 1970.
  Process process;
  process.Starts();
  process.Asks(Question::kHasLock);
  EXPECT_THAT(process.did, ElementsAre("HasLock no"));
  process.SeesNoRow();
  process.Commits(At(Seconds(1)));
  process.Asks(Question::kHasLock);
  EXPECT_THAT(process.did, ElementsAre("HasLock yes token=1767225601000000000"));
  process.Asks(Question::kHasLock2);
  EXPECT_THAT(process.did, ElementsAre("HasLock2 yes token=1767225601000000000 'a'"));
  process.Asks(Question::kLeader);
  EXPECT_THAT(process.did, ElementsAre("Leader yes 'a'"));
  process.Asks(Question::kDuration);
  EXPECT_THAT(process.did, ElementsAre("Duration yes 10000"));
  process.Asks(Question::kIterations);
  EXPECT_THAT(process.did, ElementsAre("Iterations yes 1"));
  process.Asks(Question::kLock);
  EXPECT_THAT(process.did, ElementsAre("Lock no 'spindle_v3 has no blocking Lock()'"));
  process.Stops();
  process.Asks(Question::kHasLock);
  EXPECT_THAT(process.did, ElementsAre("HasLock no"));
}

TEST(SpindleV3StateTest, IsAValue) {
  // A copy goes its own way, and every field counts for the fingerprint.
  Process process;
  Wins(process);
  const State before = process.state;
  process.Wakes();
  EXPECT_FALSE(process.state == before);
  const auto fingerprint = [](const State& state) {
    Fingerprint of;
    of.Add(state);
    return of.value();
  };
  EXPECT_NE(fingerprint(process.state), fingerprint(before));
  State copy = before;
  EXPECT_EQ(fingerprint(copy), fingerprint(before));
}

}  // namespace
}  // namespace whorl::spindle_v3::spindle_v3_test
