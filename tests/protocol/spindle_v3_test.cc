// spindle_v3: its words (configuration, statements), the rounds of a follower and of a leader, the
// adaptive buffer and the wake-ups, the local deadline, the stop, and the questions.
#include "protocol/spindle_v3/spindle_v3.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/infos.h"
#include "protocol/protocol.h"
#include "protocol/spindle_v3/words.h"
#include "tests/protocol/process_under_test.h"
#include "tests/protocol/protocol_testing.h"

namespace whorl::spindle_v3::spindle_v3_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Config MakeTestConfig(Duration lease = Seconds(10)) {
  return MakeConfig("locktable", "job", "a", lease);
}

// One process under a test's hands (process_under_test.h), with its own verbs. Delays are drawn as
// nothing unless `entropy.next` says otherwise.
class Process : public ProcessUnderTest<Config, State> {
 public:
  explicit Process(Config with = MakeTestConfig()) : ProcessUnderTest(std::move(with)) {
    entropy.otherwise = 0;
  }

  const Did& Wakes() { return Fires(kWake); }
  // The reply to the look, or the rows that an acquire ended by.
  const Did& SeesNoRow() { return Ends(Found({})); }
  const Did& Sees(const char* owner, Duration age) { return Ends(Found({RowOf(owner, age)})); }
  const Did& SeesRow(Row row) { return Ends(Found({std::move(row)})); }
  const Did& AcquireFindsHolder(Duration age) {
    TransactionResult result = Failed(Code::kFailedPrecondition);
    result.results = {{.rows = {RowOf("b", age)}}};
    return Ends(std::move(result));
  }
  const Did& Commits(Timestamp at) { return Ends(Committed(at, 1)); }
  const Did& Fails(Code code = Code::kInternal) { return Ends(Failed(code)); }
  const Did& EndsUnknown() {
    TransactionResult result = whorl::EndedUnknown();
    result.results = {{.row_count = 1}};
    return Ends(std::move(result));
  }
  const Did& FindsNoRowToUpdate() {
    TransactionResult result = Failed(Code::kFailedPrecondition);
    result.results = {{.row_count = 0}};
    return Ends(std::move(result));
  }
  const Did& ReleaseEnds() { return ProcessUnderTest::Ends(kReleaseRequest, {}); }

  // From the end of the round to the next wake-up.
  Duration Pause() const { return timers.at(kWake) - now; }

 private:
  static Row RowOf(const char* owner, Duration age) {
    return {owner, whorl::At(Seconds(100)) - age, whorl::At(Seconds(100))};
  }
  const Did& Ends(TransactionResult result) {
    return ProcessUnderTest::Ends(kRoundRequest, std::move(result));
  }
  std::string TimerText(TimerId) const override { return "wake"; }
};

class ProcessTest : public testing::Test {
 protected:
  Process process;
};
using SpindleV3StatementTest = ProcessTest;
using SpindleV3HolderTest = ProcessTest;
using SpindleV3FollowerTest = ProcessTest;
using SpindleV3BufferTest = ProcessTest;
using SpindleV3LeaderTest = ProcessTest;
using SpindleV3StopTest = ProcessTest;
using SpindleV3QuestionTest = ProcessTest;
// Wins the absent row: the acquire's reply comes at 0, with this token.
void Wins(Process& process, Timestamp token = At(Duration{})) {
  process.Starts();
  process.SeesNoRow();
  process.Commits(token);
}

// ... and has sent its first heartbeat, at 4.5 s.
void WinsAndBeats(Process& process, Timestamp token = At(Duration{})) {
  Wins(process, token);
  process.Wakes();
}

// --- words -------------------------------------------------------------------------------------

TEST(SpindleV3ConfigTest, TheLeaseIsInWholeSecondsAndAtLeastFive) {
  // Upstream's unit is the second; less than five is raised with a line in the log.
  EXPECT_EQ(MakeTestConfig(Seconds(10)).lease, Seconds(10));
  EXPECT_EQ(MakeTestConfig(Milliseconds(7'900)).lease, Seconds(7));
  EXPECT_EQ(MakeTestConfig(Milliseconds(200)).lease, Seconds(5));
  EXPECT_EQ(MakeTestConfig(Seconds(-1)).lease, Seconds(5));
  Process process(MakeTestConfig(Seconds(2)));
  EXPECT_THAT(process.Starts(), ElementsAre("note lease raised to its minimum", "run look"));
}

TEST(SpindleV3ConfigTest, OnlyItsPromiseOfTheLeaseHasALimit) {
  for (const PromiseLimit& limit : Info().promise_limits) {
    EXPECT_EQ(limit.invariant, Invariant::kLeaseRespected) << WordOf(limit.circumstance);
  }
}

TEST_F(SpindleV3StatementTest, HeartbeatAndReleaseNameTokenAndOwner) {
  // That is what makes who was superseded notice, and what spindle v2 lacks.
  const Config config = MakeTestConfig();
  const auto condition = [](const Sql& sql) { return sql.text().substr(sql.text().find("WHERE")); };
  EXPECT_EQ(condition(config.heartbeat),
            "WHERE name = @name AND token = @token AND owner = @owner");
  EXPECT_EQ(condition(config.release), condition(config.heartbeat));
  WinsAndBeats(process, At(Seconds(3)));
  EXPECT_EQ(process.Parameters(), (std::vector<Value>{"job", At(Seconds(3)), "a"}));
  EXPECT_EQ(process.asked.body, Body{IfRowChanged{}});
  EXPECT_EQ(process.asked.mode, Mode::kReadWrite);
}

TEST_F(SpindleV3StatementTest, TheAcquireReadsTestsAndWritesInOneTransaction) {
  // Nothing can come between the test and the write, and the token is the commit timestamp.
  process.Starts();
  EXPECT_EQ(process.asked.mode, Mode::kStrongRead) << "a look takes no locks";
  process.SeesNoRow();
  const Transaction& acquire = process.asked;
  EXPECT_EQ(acquire.mode, Mode::kReadWrite);
  EXPECT_EQ(acquire.statements.front().statement.sql, process.config.look);
  EXPECT_EQ(acquire.body, (Body{UnlessHeld{.me = "a", .lease = Seconds(10)}}));
  ASSERT_EQ(acquire.mutations.size(), 1U);
  EXPECT_EQ(acquire.mutations[0].kind, MutationKind::kInsertOrUpdate);
  EXPECT_THAT(acquire.mutations[0].columns, ElementsAre("name", "owner", "token"));
  EXPECT_EQ(acquire.mutations[0].rows.front(), (Row{"job", "a", std::string(kCommitTimestamp)}));
  EXPECT_EQ(acquire.give_up_at, std::nullopt) << "only the context of Run bounds it";
}

TEST_F(SpindleV3HolderTest, IsAnotherWhoseTokenIsYoungerThanTheLease) {
  // At the very end of the lease it is free.
  const UnlessHeld test = {.me = "a", .lease = Seconds(10)};
  const auto holder = [&](Value owner, Duration age) {
    return HolderIn({{std::move(owner), At(Duration{}), At(age)}}, test);
  };
  EXPECT_EQ(holder("b", Nanoseconds(9'999'999'999)).kind, HolderKind::kAnother);
  EXPECT_EQ(holder("b", Nanoseconds(9'999'999'999)).age, Nanoseconds(9'999'999'999));
  EXPECT_EQ(holder("b", Seconds(10)).kind, HolderKind::kNone);
  EXPECT_EQ(holder("b", Milliseconds(-3)).kind, HolderKind::kAnother)
      << "a clock behind the token takes nothing, other than in spindle v2";
  EXPECT_EQ(holder("a", Duration{}).kind, HolderKind::kNone)
      << "an own row is taken whatever its age (V3, V4)";
  EXPECT_EQ(holder(Null{}, Seconds(99)).kind, HolderKind::kUnreadable);
  EXPECT_EQ(HolderIn({{"b", Null{}, At(Duration{})}}, test).kind, HolderKind::kUnreadable);
  EXPECT_EQ(HolderIn({}, test).kind, HolderKind::kNone);
}

TEST_F(SpindleV3HolderTest, EndsTheTransactionBeforeAnythingIsWritten) {
  // Continue() is what the client asks after each answer.
  process.Starts();
  process.SeesNoRow();
  const auto next = [&](Row row) {
    const std::vector<StatementResult> heard = {{.rows = {std::move(row)}}};
    return Continue(process.asked, heard);
  };
  EXPECT_TRUE(std::holds_alternative<SayStatement>(Continue(process.asked, {})));
  EXPECT_TRUE(std::holds_alternative<SayRollback>(next({"b", At(Duration{}), At(Seconds(9))})));
  EXPECT_TRUE(std::holds_alternative<SayRollback>(next({Null{}, At(Duration{}), At(Seconds(9))})));
  EXPECT_EQ(next({"b", At(Duration{}), At(Seconds(10))}), Said{SayCommit{}});
  const std::vector<StatementResult> no_row = {{}};
  EXPECT_EQ(Continue(process.asked, no_row), Said{SayCommit{}});
}

TEST_F(SpindleV3HolderTest, AHeartbeatOfNoRowIsRolledBack) {
  // As upstream's closure, which returns an error when the UPDATE changed nothing.
  WinsAndBeats(process);
  const std::vector<StatementResult> none = {{.row_count = 0}};
  const std::vector<StatementResult> one = {{.row_count = 1}};
  EXPECT_TRUE(std::holds_alternative<SayRollback>(Continue(process.asked, none)));
  EXPECT_EQ(Continue(process.asked, one), Said{SayCommit{}});
}

TEST_F(SpindleV3FollowerTest, LooksAtOnceAndTakesAFreeLockInTheSameRound) {
  // The winner is told at once, other than in spindle v2.
  EXPECT_THAT(process.Starts(), ElementsAre("run look"));
  EXPECT_THAT(process.SeesNoRow(), ElementsAre("run acquire"));
  EXPECT_FALSE(process.Believes());
  EXPECT_THAT(process.Commits(At(Seconds(1))),
              ElementsAre("note got the lock", "callback 1", "set wake 4.5s"));
  EXPECT_TRUE(process.Believes());
  EXPECT_EQ(process.state.own_token, At(Seconds(1)));
}

TEST_F(SpindleV3FollowerTest, TheBufferIsThatOfTheConfiguration) {
  // Exploration on a coarse grid of time needs other numbers than those that ship.
  process.config.constants.buffer_min = Seconds(2);
  process.Starts();
  EXPECT_THAT(process.Sees("b", Seconds(3)), ElementsAre("callback 0", "set wake 5s"));
}

TEST_F(SpindleV3FollowerTest, SleepsUntilTheLeaseThatItSawIsOver) {
  // L - age + U[0, L/7) - b, with b at its floor of L/20.
  process.Starts();
  process.entropy.next = {Milliseconds(900).ns};
  EXPECT_THAT(process.Sees("b", Seconds(3)), ElementsAre("callback 0", "set wake 7.4s"));
  EXPECT_EQ(process.entropy.draws.back(),
            (ScriptedEntropy::Draw{
                .purpose = purposes::kWakeDelay, .lo = 0, .hi = Seconds(10).ns / 7 - 1}));
}

TEST_F(SpindleV3FollowerTest, CallsBackWithZeroAfterItsFirstRoundOnly) {
  // Users of the callback hear once that they do not lead.
  process.Starts();
  EXPECT_EQ(process.Sees("b", Seconds(3)).front(), "callback 0");
  process.Wakes();
  EXPECT_THAT(process.Sees("b", Seconds(1)), ElementsAre("set wake 15s"));
}

TEST_F(SpindleV3FollowerTest, AfterAnErrorItSleepsTheBufferAndADelay) {
  // b + U - b, and never less than b.
  process.Starts();
  process.entropy.next = {Milliseconds(800).ns};
  process.Fails();
  EXPECT_EQ(process.Pause(), Milliseconds(800));
  process.Wakes();
  process.entropy.next = {Milliseconds(200).ns};
  process.Fails();
  EXPECT_EQ(process.Pause(), Milliseconds(500));
}

TEST_F(SpindleV3FollowerTest, AnAcquireThatFindsAHolderCountsFromItsAge) {
  // Another one won since the look: the lease that is waited for is the winner's.
  process.Starts();
  process.SeesNoRow();
  EXPECT_THAT(process.AcquireFindsHolder(Milliseconds(40)),
              ElementsAre("note claim failed", "callback 0", "set wake 9.46s"));
  EXPECT_FALSE(process.Believes());
}

TEST_F(SpindleV3FollowerTest, AnAcquireWhoseOutcomeIsUnknownIsAFailure) {
  // It may own the row without knowing; its next look finds its own row and takes it again.
  process.Starts();
  process.SeesNoRow();
  process.EndsUnknown();
  EXPECT_FALSE(process.Believes());
  EXPECT_EQ(process.Pause(), Milliseconds(500));
  process.Wakes();
  EXPECT_THAT(process.Sees("a", Seconds(1)), ElementsAre("run acquire"));
}

TEST_F(SpindleV3FollowerTest, ARowWithNullsIsAnErrorThatIsTriedAgain) {
  // Go's client cannot put NULL into a string or a time.
  process.Starts();
  EXPECT_THAT(process.SeesRow({Null{}, At(Duration{}), At(Seconds(60))}),
              ElementsAre("note the row cannot be read", "callback 0", "set wake 500ms"));
}

TEST_F(SpindleV3BufferTest, IsThreeLatenciesWithinItsBounds) {
  // clamp(3 x latency, max(50 ms, L/20), L/3).
  EXPECT_EQ(BufferFor(Constants{}, Seconds(10), Duration{}), Milliseconds(500));
  EXPECT_EQ(BufferFor(Constants{}, Seconds(10), Milliseconds(200)), Milliseconds(600));
  EXPECT_EQ(BufferFor(Constants{}, Seconds(9), Seconds(2)), Seconds(3));
  EXPECT_EQ(BufferFor(Constants{}, Milliseconds(600), Duration{}), Milliseconds(50))
      << "whatever the lease";
}

TEST_F(SpindleV3BufferTest, LatencyIsSmoothedSevenToThree) {
  // The first value is taken unchanged.
  EXPECT_EQ(Smoothed(Constants{}, Duration{}, Milliseconds(100)), Milliseconds(100));
  EXPECT_EQ(Smoothed(Constants{}, Milliseconds(100), Milliseconds(200)), Milliseconds(130));
}

TEST_F(SpindleV3BufferTest, GrowsWithTheRoundsThatWereMeasured) {
  // A slow database makes everybody start earlier.
  process.Starts();
  process.Passes(Milliseconds(400));
  process.SeesNoRow();
  process.Passes(Milliseconds(600));
  process.Commits(At(Seconds(1)));
  EXPECT_EQ(process.state.latency, Seconds(1)) << "look and acquire are one round";
  EXPECT_EQ(process.state.buffer, Seconds(3));
  EXPECT_EQ(process.Pause(), Seconds(3)) << "5 s - 1 s - 3 s is less than the buffer";
}

TEST_F(SpindleV3LeaderTest, BeatsHalfALeaseAfterTheRoundBegan) {
  // L/2 - elapsed - b after a success.
  process.Starts();
  process.SeesNoRow();
  process.Passes(Milliseconds(100));
  process.Commits(At(Duration{}));
  EXPECT_EQ(process.Pause(), Milliseconds(5'000 - 100 - 500));
  EXPECT_THAT(process.Wakes(), ElementsAre("run heartbeat"));
  process.Passes(Milliseconds(100));
  EXPECT_THAT(process.Commits(At(Seconds(5))), ElementsAre("set wake 9s"))
      << "no callback: nothing has changed";
  EXPECT_EQ(process.state.own_token, At(Seconds(5))) << "the commit timestamp of the heartbeat";
}

TEST_F(SpindleV3LeaderTest, TheHeartbeatsDeadlineEndsABufferBeforeTheLease) {
  // max(100 ms, L - since last success - b), from the reply of the last success on.
  WinsAndBeats(process);
  EXPECT_EQ(process.now, ShownAfter(Milliseconds(4'500)));
  EXPECT_EQ(process.asked.give_up_at, ShownAfter(Milliseconds(9'500)));
  process.Fails();
  process.Passes(Milliseconds(4'950));  // 9.45 s after the success
  process.Wakes();
  EXPECT_EQ(process.asked.give_up_at, process.now + Milliseconds(100));
}

TEST_F(SpindleV3LeaderTest, AfterAnErrorItSleepsAQuarterOfTheLease) {
  // max(b, L/4) - b.
  WinsAndBeats(process);
  EXPECT_THAT(process.Fails(), ElementsAre("note heartbeat failed", "set wake 6.5s"));
  EXPECT_TRUE(process.Believes());
}

TEST_F(SpindleV3LeaderTest, NeverSleepsLessThanTheBuffer) {
  // With the buffer at its ceiling a quarter of the lease is less than that.
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

TEST_F(SpindleV3LeaderTest, SupersededItStepsDownAtOnce) {
  // Zero rows: the token or the owner is another, or the row is gone.
  WinsAndBeats(process);
  EXPECT_THAT(
      process.FindsNoRowToUpdate(),
      ElementsAre("note heartbeat failed", "note lost the lock", "callback 0", "set wake 5s"));
  EXPECT_FALSE(process.Believes());
  EXPECT_EQ(process.state.own_token, At(Duration{})) << "never cleared";
  EXPECT_THAT(process.Wakes(), ElementsAre("run look"));
}

TEST_F(SpindleV3LeaderTest, StepsDownWhenTheLeaseMightEndBeforeTheNextTry) {
  // (time since last success + b) >= L, looked at only when a heartbeat has failed.
  for (const Duration after : {Nanoseconds(9'499'999'999), Milliseconds(9'500)}) {
    process = Process();
    Wins(process);
    process.Wakes();
    process.Passes(ShownAfter(after) - process.now);
    process.Fails(Code::kDeadlineExceeded);
    EXPECT_EQ(process.Believes(), after < Milliseconds(9'500)) << FormatDuration(after);
  }
}

TEST_F(SpindleV3LeaderTest, HeartbeatsThatFailFastOverstayTheLease) {
  // Finding V1: failures at 4.5, 6.5 and 8.5 s are all too early, and the next is at 10.5 s.
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

TEST_F(SpindleV3LeaderTest, ItsDeadlineCountsFromTheReply) {
  // Finding V2: the reply came 4 s after the Commit was sent, and the lease is counted from it.
  WinsAndBeats(process);
  process.Passes(Seconds(4));
  process.Commits(At(Milliseconds(4'500)));
  EXPECT_EQ(process.state.last_success, ShownAfter(Milliseconds(8'500)));
}

TEST_F(SpindleV3LeaderTest, AnUnknownHeartbeatLeavesTheOldToken) {
  // Finding V3: it may have committed; the next heartbeat, with the old token, then finds no row.
  WinsAndBeats(process, At(Seconds(1)));
  process.Passes(Seconds(1));
  process.EndsUnknown();
  EXPECT_TRUE(process.Believes());
  process.Wakes();
  EXPECT_EQ(process.Parameters()[1], Value{At(Seconds(1))});
  process.FindsNoRowToUpdate();
  EXPECT_FALSE(process.Believes());
  process.Wakes();
  EXPECT_THAT(process.Sees("a", Seconds(2)), ElementsAre("run acquire"))
      << "its own row, however young";
}

TEST_F(SpindleV3LeaderTest, APausedLeaderStillLeads) {
  // Nothing but the end of a round or a stop ends the leader's context: no timer does.
  Wins(process);
  process.Passes(Seconds(60));
  EXPECT_TRUE(process.Believes());
  EXPECT_EQ(LeadershipViewOf(process.state).believes_until, std::nullopt);
}

TEST_F(SpindleV3StopTest, TheContextEndsAndTheRowIsDeletedWithoutWaitingForTheWork) {
  // Finding V6: WorkStopped is never waited for. Callback 0 comes when the DELETE is over.
  Wins(process, At(Seconds(1)));
  process.Passes(Seconds(2));
  EXPECT_THAT(process.Stops(), ElementsAre("cancel wake", "run release"));
  EXPECT_FALSE(process.Believes());
  EXPECT_EQ(process.Parameters(), (std::vector<Value>{"job", At(Seconds(1)), "a"}));
  EXPECT_EQ(process.asked.give_up_at, ShownAfter(Seconds(7))) << "5 s";
  EXPECT_THAT(process.WorkStops(), IsEmpty());
  EXPECT_THAT(process.ReleaseEnds(), ElementsAre("callback 0"));
  EXPECT_THAT(process.Stops(), IsEmpty());
}

TEST_F(SpindleV3StopTest, WhatIsUnderWayIsCancelledAndNotHeardOf) {
  // The DELETE names the old token even if the heartbeat commits after all.
  WinsAndBeats(process, At(Seconds(1)));
  EXPECT_THAT(process.Stops(StopReason::kDeadline), ElementsAre("cancel heartbeat", "run release"));
  EXPECT_EQ(process.Parameters()[1], Value{At(Seconds(1))});
  EXPECT_THAT(process.Commits(At(Seconds(9))), IsEmpty());
  EXPECT_EQ(process.state.own_token, At(Seconds(1)));
}

TEST_F(SpindleV3StopTest, AFollowerJustEnds) {
  // It has nothing to give back, and an acquire under way is cancelled.
  process.Starts();
  process.SeesNoRow();
  EXPECT_THAT(process.Stops(), ElementsAre("cancel acquire"));
  EXPECT_THAT(process.Commits(At(Seconds(1))), IsEmpty());
  EXPECT_FALSE(process.Believes());
}

TEST_F(SpindleV3QuestionTest, AreAnsweredFromWhatTheProcessKnows) {
  // The token is the one that the callback hands out: nanoseconds since 1970.
  process.Starts();
  EXPECT_THAT(process.Asks(Question::kHasLock), ElementsAre("HasLock no"));
  process.SeesNoRow();
  process.Commits(At(Seconds(1)));
  EXPECT_THAT(process.Asks(Question::kHasLock),
              ElementsAre("HasLock yes token=1767225601000000000"));
  EXPECT_THAT(process.Asks(Question::kHasLock2),
              ElementsAre("HasLock2 yes token=1767225601000000000 'a'"));
  EXPECT_THAT(process.Asks(Question::kLeader), ElementsAre("Leader yes 'a'"));
  process.Stops();
  EXPECT_THAT(process.Asks(Question::kHasLock), ElementsAre("HasLock no"));
}

}  // namespace
}  // namespace whorl::spindle_v3::spindle_v3_test
