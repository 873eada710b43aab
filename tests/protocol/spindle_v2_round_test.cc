// One round of spindle_v2, rule by rule: the check and its thresholds, the INSERT, the takeover,
// the callbacks and the ticker. Where a rule is a finding its number is given.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "protocol/spindle_v2/spindle_v2.h"
#include "tests/protocol/spindle_v2_testing.h"

namespace whorl::spindle_v2::spindle_v2_round_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Timestamp kMine = At(Seconds(1));
const Timestamp kTheirs = At(Seconds(-3));

// --- the ticker --------------------------------------------------------------------------------

TEST(SpindleV2TickerTest, EveryLeaseARound) {
  // A follower's takeover can come as late as one period after the lease ran out.
  Spindle spindle;
  Follows(spindle, kTheirs);
  for (int round = 1; round < 5; ++round) {
    spindle.Ticks();
    EXPECT_EQ(spindle.now, ShownAfter(Seconds(10 * round)));
    EXPECT_EQ(spindle.did.back(), "run check");
    spindle.Sees(int64_t{500}, kTheirs);
  }
}

TEST(SpindleV2TickerTest, ATickThatFindsARoundRunningIsSkipped) {
  // A hanging check makes rounds rarer, it does not queue them up.
  Spindle spindle;
  spindle.Starts();
  spindle.Ticks();
  EXPECT_THAT(spindle.did, ElementsAre("set tick 20s"));
  spindle.Ticks();
  EXPECT_THAT(spindle.did, ElementsAre("set tick 30s"));
  spindle.At(Seconds(25));
  spindle.Sees(int64_t{500}, kTheirs);
  EXPECT_THAT(spindle.did, ElementsAre("callback 0")) << "no round is made up for";
  EXPECT_EQ(spindle.state.iterations, 1);
}

TEST(SpindleV2TickerTest, KeepsItsPhaseAfterALateTick) {
  // After a pause one tick is pending, and the next ones fall where they would have fallen.
  Spindle spindle;
  spindle.At(Seconds(3));
  Follows(spindle, kTheirs);
  spindle.At(Milliseconds(47'500));
  spindle.Ticks();
  EXPECT_THAT(spindle.did, ElementsAre("set tick 53s", "run check"));
}

TEST(SpindleV2TickerTest, ATickThatIsLateByWholePeriodsIsOneTick) {
  // Go's ticker holds one: the ticks of a 40 s pause are not played back.
  Spindle spindle;
  Follows(spindle, kTheirs);
  spindle.At(Seconds(50));
  spindle.Ticks();
  EXPECT_THAT(spindle.did, ElementsAre("set tick 60s", "run check"));
}

TEST(SpindleV2TickerTest, ASlowRoundDoesNotShiftTheTicks) {
  // The period is from tick to tick, not from the end of a round.
  Spindle spindle;
  spindle.Starts();
  spindle.At(Seconds(9));
  spindle.Sees(int64_t{500}, kTheirs);
  spindle.Ticks();
  EXPECT_EQ(spindle.now, ShownAfter(Seconds(10)));
}

// --- the check ---------------------------------------------------------------------------------

TEST(SpindleV2CheckTest, AnErrorDoesNothingInThisRound) {
  // "On the safer side" upstream: no callback, so a leader that cannot ask goes on leading (S10).
  Spindle spindle;
  Leads(spindle, kMine);
  spindle.Ticks();
  spindle.Fails(Code::kDeadlineExceeded);
  EXPECT_THAT(spindle.did, ElementsAre("note read failed 'DEADLINE_EXCEEDED: lost'"));
  EXPECT_TRUE(StandingOf(spindle.state).believes);
  EXPECT_EQ(spindle.state.runs[0]->leader, 1) << "the counter is kept";
  EXPECT_EQ(spindle.state.iterations, 3) << "but it was a round";
}

TEST(SpindleV2CheckTest, ALiveLeaseOfAnotherMakesAFollower) {
  // The only place where callback(0) is made.
  Spindle spindle;
  spindle.Starts();
  spindle.Sees(int64_t{500}, kTheirs);
  EXPECT_THAT(spindle.did, ElementsAre("callback 0"));
}

// The state of a process that saw an age of `age_ms` under a lease of 10 s: did it follow?
bool FollowsAt(Value age_ms) {
  Spindle spindle;
  spindle.Starts();
  spindle.Sees(std::move(age_ms), kTheirs);
  return spindle.did == std::vector<std::string>{"callback 0"};
}

TEST(SpindleV2CheckTest, ALeaseIsOverFromOneSecondAndOneMillisecondBeyondItsLength) {
  // d + 1000 ms follows, d + 1001 ms takes: this is upstream's allowance for drift.
  EXPECT_TRUE(FollowsAt(int64_t{1}));
  EXPECT_TRUE(FollowsAt(int64_t{9'999}));
  EXPECT_TRUE(FollowsAt(int64_t{10'000}));
  EXPECT_TRUE(FollowsAt(int64_t{10'001}));
  EXPECT_TRUE(FollowsAt(int64_t{11'000}));
  EXPECT_FALSE(FollowsAt(int64_t{11'001}));
}

TEST(SpindleV2CheckTest, AnAgeOfZeroOrLessCountsAsAvailable) {
  // S5: a heartbeat of this very millisecond, or one ahead of Spanner's clock, loses its lease.
  EXPECT_FALSE(FollowsAt(int64_t{0}));
  EXPECT_FALSE(FollowsAt(int64_t{-1}));
  EXPECT_FALSE(FollowsAt(std::numeric_limits<int64_t>::min()));
}

TEST(SpindleV2CheckTest, AnAgeOfMillenniaIsJustOld) {
  // A heartbeat of the year 1 is more milliseconds old than a duration can say.
  EXPECT_FALSE(FollowsAt(int64_t{63'900'000'000'000}));
  EXPECT_FALSE(FollowsAt(std::numeric_limits<int64_t>::max()));
}

TEST(SpindleV2CheckTest, ANullHeartbeatCountsAsAvailable) {
  // Go reads a NULL difference as 0.
  EXPECT_FALSE(FollowsAt(Null{}));
}

TEST(SpindleV2CheckTest, ExpiryIsByTheObserversOwnLease) {
  // S15: the row does not say for how long it was taken, so a pod with a shorter d takes it early.
  Spindle spindle(MakeTestConfig(Seconds(2)));
  spindle.Starts();
  spindle.Sees(int64_t{3'001}, kTheirs);
  EXPECT_THAT(spindle.did, ElementsAre("run first_insert"));
}

TEST(SpindleV2CheckTest, AnAvailableLockMakesNoCallbackAndKeepsTheCounter) {
  // A leader whose row vanished, or whose token was replaced and has expired, is not told.
  Spindle spindle;
  Leads(spindle, kMine);
  spindle.Ticks();
  spindle.Sees(int64_t{0}, kTheirs);
  EXPECT_THAT(spindle.did, ElementsAre("run first_insert"));
  EXPECT_EQ(spindle.state.runs[0]->leader, 1);
  EXPECT_TRUE(StandingOf(spindle.state).believes);
}

TEST(SpindleV2CheckTest, ANullTokenIsNobodys) {
  // A takeover row under a lock's own name has no token; no process may take it for its own.
  Spindle spindle;
  spindle.Starts();
  spindle.Sees(int64_t{500}, Null{});
  EXPECT_THAT(spindle.did, ElementsAre("callback 0"));
}

// --- being the leader --------------------------------------------------------------------------

TEST(SpindleV2LeaderTest, TheOwnerDoesNotLookAtTheAge) {
  // However long it slept: as long as nobody took over, the token is its own and so is the lock.
  for (const int64_t age_ms : {int64_t{-50}, int64_t{0}, int64_t{5'000}, int64_t{3'600'000}}) {
    Spindle spindle;
    Leads(spindle, kMine);
    spindle.Ticks();
    spindle.Sees(age_ms, kMine);
    EXPECT_THAT(spindle.did, ElementsAre("callback 1")) << age_ms;
  }
}

TEST(SpindleV2LeaderTest, HeartbeatsOnceBeforeTheFirstCallback) {
  // The lease is a whole period old by then; the round waits for the beat before it tells anybody.
  Spindle spindle;
  WinsFirst(spindle, kMine);
  spindle.Ticks();
  spindle.Sees(int64_t{9'990}, kMine);
  EXPECT_THAT(spindle.did, ElementsAre("run heartbeat_update"));
  EXPECT_EQ(spindle.state.runs[0]->leader, 1);
  spindle.Commits({});
  EXPECT_THAT(spindle.did, ElementsAre("callback 1"));
  EXPECT_TRUE(spindle.RoundIsOver());
}

TEST(SpindleV2LeaderTest, IsToldAlsoWhenThatHeartbeatFailed) {
  // All results of a heartbeat are thrown away, this one's too.
  for (const bool unknown : {false, true}) {
    Spindle spindle;
    WinsFirst(spindle, kMine);
    spindle.Ticks();
    spindle.Sees(int64_t{9'990}, kMine);
    unknown ? spindle.EndsUnknown() : spindle.Fails();
    EXPECT_EQ(spindle.did.back(), "callback 1");
  }
}

TEST(SpindleV2LeaderTest, IsToldInEveryRound) {
  // Users who count callbacks see one per period, not one per change.
  Spindle spindle;
  Leads(spindle, kMine);
  for (int round = 0; round < 3; ++round) {
    spindle.Ticks();
    spindle.Sees(int64_t{5'000}, kMine);
    EXPECT_THAT(spindle.did, ElementsAre("callback 1"));
  }
  EXPECT_EQ(spindle.state.runs[0]->leader, 4);
}

TEST(SpindleV2LeaderTest, TheHeartbeatOfARoundAndTheLoopsMayRunAtTheSameTime) {
  // The loop sees the counter as soon as it is 1, while the round's own beat is still under way.
  Spindle spindle;
  WinsFirst(spindle, kMine);
  spindle.Ticks();
  spindle.Sees(int64_t{9'990}, kMine);
  spindle.Wakes();
  EXPECT_THAT(spindle.did, ElementsAre("run heartbeat_update"));
  EXPECT_FALSE(spindle.RoundIsOver());
  EXPECT_TRUE(spindle.IsBeating());
}

TEST(SpindleV2LeaderTest, OnlyCallbackZeroResetsTheCounter) {
  // Only then does the next notice beat at once again, and only then do heartbeats stop.
  Spindle spindle;
  Leads(spindle, kMine);
  spindle.Ticks();
  spindle.Fails();
  spindle.Ticks();
  spindle.Sees(int64_t{0}, kTheirs);
  spindle.Fails(Code::kAlreadyExists);
  spindle.Fails();
  EXPECT_EQ(spindle.state.runs[0]->leader, 1);
  spindle.Ticks();
  spindle.Sees(int64_t{500}, kTheirs);
  EXPECT_THAT(spindle.did, ElementsAre("callback 0"));
  EXPECT_EQ(spindle.state.runs[0]->leader, 0);
  EXPECT_EQ(spindle.state.own_token, kMine) << "never cleared once set";
  spindle.Ticks();
  spindle.Sees(int64_t{500}, kMine);
  EXPECT_THAT(spindle.did, ElementsAre("run heartbeat_update"));
}

// --- the first INSERT --------------------------------------------------------------------------

TEST(SpindleV2FirstInsertTest, MakesTheCommitTimestampTheTokenAndEndsTheRound) {
  // The fence is Spanner's own clock.
  Spindle spindle;
  WinsFirst(spindle, kMine);
  EXPECT_EQ(spindle.state.own_token, kMine);
  EXPECT_TRUE(spindle.RoundIsOver());
  EXPECT_EQ(spindle.state.iterations, 1);
}

TEST(SpindleV2FirstInsertTest, IsTriedAgainAfterASuccess) {
  // `initial` stays 1 for the winner: should its row be deleted, it inserts it anew.
  Spindle spindle;
  WinsFirst(spindle, kMine);
  spindle.Ticks();
  spindle.SeesNoRow();
  EXPECT_THAT(spindle.did, ElementsAre("run first_insert"));
  spindle.Commits(At(Seconds(11)));
  EXPECT_EQ(spindle.state.own_token, At(Seconds(11)));
}

TEST(SpindleV2FirstInsertTest, AnyErrorFallsThroughToTheTakeoverInTheSameRound) {
  // S1: the loser of a race goes on at once and takes the winner's milliseconds-old lease.
  for (const Code code : {Code::kAlreadyExists, Code::kInternal, Code::kDeadlineExceeded}) {
    Spindle spindle;
    spindle.Starts();
    spindle.SeesNoRow();
    spindle.Fails(code);
    EXPECT_THAT(spindle.did, ElementsAre("run reread")) << WordOf(code);
    EXPECT_EQ(spindle.state.iterations, 0) << "still the same round";
  }
}

TEST(SpindleV2FirstInsertTest, AnUnknownOutcomeIsAnErrorToo) {
  // Go's client returns an error, whatever became of the Commit: its own lease may be what it
  // takes.
  Spindle spindle;
  spindle.Starts();
  spindle.SeesNoRow();
  spindle.EndsUnknown();
  EXPECT_THAT(spindle.did, ElementsAre("run reread"));
  EXPECT_EQ(spindle.state.own_token, std::nullopt);
}

TEST(SpindleV2FirstInsertTest, IsNeverTriedAgainAfterAnError) {
  // `initial` is 0 for good, even where the row is absent (S6).
  Spindle spindle;
  spindle.Starts();
  spindle.SeesNoRow();
  spindle.Fails(Code::kAlreadyExists);
  spindle.Fails();
  spindle.Ticks();
  spindle.SeesNoRow();
  EXPECT_THAT(spindle.did, ElementsAre("run reread"));
}

// --- the takeover ------------------------------------------------------------------------------

// Up to the second read, by a process that has lost the INSERT.
void Takes(Spindle& spindle) {
  spindle.Starts();
  spindle.Sees(int64_t{60'000}, kTheirs);
  spindle.Fails(Code::kAlreadyExists);
}

TEST(SpindleV2TakeoverTest, TheSecondReadDoesNotJudgeWhatItSees) {
  // S2: whatever token it reads is the one it takes over from, however fresh, its own included.
  for (const Timestamp seen : {kTheirs, At(Seconds(5)), kMine}) {
    Spindle spindle;
    Takes(spindle);
    spindle.Rereads(seen, std::string("b"));
    EXPECT_THAT(spindle.did, ElementsAre("run takeover_insert"));
    EXPECT_EQ(spindle.InRound().statements[0].statement.parameters[0],
              Value(TakeoverRowName("job", HashOf(seen))));
  }
}

TEST(SpindleV2TakeoverTest, AnErrorOfTheSecondReadEndsTheRound) {
  // Logged, and tried again a period later.
  Spindle spindle;
  Takes(spindle);
  spindle.Fails();
  EXPECT_THAT(spindle.did, ElementsAre("note read failed 'INTERNAL: lost'"));
  EXPECT_TRUE(spindle.RoundIsOver());
  EXPECT_EQ(spindle.state.iterations, 1);
}

TEST(SpindleV2TakeoverTest, AnAbsentRowIsTakenOverFromTheEmptyToken) {
  // S6: the row of the well-known name blocks every later takeover of this kind.
  Spindle spindle;
  Takes(spindle);
  spindle.SeesNoRow();
  EXPECT_EQ(spindle.InRound().statements[0].statement.parameters[0],
            Value(std::string("job_17241709254077376921")));
}

TEST(SpindleV2TakeoverTest, ALostInsertEndsTheRoundInSilence) {
  // S3: a takeover row that nobody deletes is met here for ever, without a line in any log.
  for (const bool unknown : {false, true}) {
    Spindle spindle;
    Takes(spindle);
    spindle.Rereads(kTheirs);
    unknown ? spindle.EndsUnknown() : spindle.Fails(Code::kAlreadyExists);
    EXPECT_THAT(spindle.did, IsEmpty());
    EXPECT_TRUE(spindle.RoundIsOver());
    EXPECT_EQ(spindle.state.own_token, std::nullopt);
    EXPECT_EQ(spindle.state.iterations, 1);
  }
}

TEST(SpindleV2TakeoverTest, TheTokenIsTheTakeoverRowsCommitTimestamp) {
  // Not the UPDATE's: the token is older than the heartbeat that is written with it (S4).
  Spindle spindle;
  Takes(spindle);
  spindle.Rereads(kTheirs);
  spindle.Commits(At(Seconds(7)));
  EXPECT_EQ(spindle.InRound().statements[0].statement.parameters[1], Value(At(Seconds(7))));
  spindle.Commits(At(Seconds(8)));
  EXPECT_EQ(spindle.state.own_token, At(Seconds(7)));
}

TEST(SpindleV2TakeoverTest, TheTokenIsOwnOnlyAfterTheUpdate) {
  // Between the two it would answer "has lock" for a token that no row holds.
  Spindle spindle;
  Takes(spindle);
  spindle.Rereads(kTheirs);
  spindle.Commits(At(Seconds(7)));
  EXPECT_EQ(spindle.state.own_token, std::nullopt);
}

TEST(SpindleV2TakeoverTest, AFailedUpdateIsLoggedAndLeavesTheTakeoverRow) {
  // S3 by another way: nothing undoes the INSERT.
  for (const bool unknown : {false, true}) {
    Spindle spindle;
    Takes(spindle);
    spindle.Rereads(kTheirs);
    spindle.Commits(At(Seconds(7)));
    unknown ? spindle.EndsUnknown() : spindle.Fails();
    ASSERT_EQ(spindle.did.size(), 1U);
    EXPECT_THAT(spindle.did[0], testing::StartsWith("note token update failed"));
    EXPECT_EQ(spindle.state.own_token, std::nullopt);
    EXPECT_TRUE(spindle.RoundIsOver());
  }
}

TEST(SpindleV2TakeoverTest, AnUpdateOfNoRowCountsAsWon) {
  // S6: "got the lock", and nobody holds it: the count of changed rows is not looked at.
  Spindle spindle;
  Takes(spindle);
  spindle.SeesNoRow();
  spindle.Commits(At(Seconds(7)));
  spindle.CommitsWithoutARow(At(Seconds(8)));
  EXPECT_THAT(spindle.did, ElementsAre("note got the next lock 2026-01-01T00:00:07Z"));
  EXPECT_EQ(spindle.state.own_token, At(Seconds(7)));
}

TEST(SpindleV2TakeoverTest, LeadershipIsNoticedInALaterRoundOnly) {
  // As for the first winner: one period passes before callback(1).
  Spindle spindle;
  Takes(spindle);
  spindle.Rereads(kTheirs);
  spindle.Commits(At(Seconds(7)));
  spindle.Commits(At(Seconds(8)));
  EXPECT_TRUE(spindle.RoundIsOver());
  EXPECT_EQ(spindle.state.runs[0]->leader, 0);
  spindle.Ticks();
  spindle.Sees(int64_t{9'000}, At(Seconds(7)));
  EXPECT_THAT(spindle.did, ElementsAre("run heartbeat_update"));
}

TEST(SpindleV2TakeoverTest, ALeaderWhoseCounterWasKeptDoesNotBeatBeforeItsNextCallback) {
  // It lost its lock, took it back before it was ever told, and its counter still stands at 1.
  Spindle spindle;
  Leads(spindle, kMine);
  spindle.Ticks();
  spindle.Sees(int64_t{12'000}, kTheirs);
  spindle.Fails(Code::kAlreadyExists);
  spindle.Rereads(kTheirs);
  spindle.Commits(At(Seconds(21)));
  spindle.Commits(At(Seconds(22)));
  EXPECT_EQ(spindle.state.own_token, At(Seconds(21)));
  EXPECT_EQ(spindle.state.runs[0]->leader, 1) << "so that no extra heartbeat comes before callback";
  spindle.Ticks();
  spindle.Sees(int64_t{8'000}, At(Seconds(21)));
  EXPECT_THAT(spindle.did, ElementsAre("callback 1"));
}

// --- after every round -------------------------------------------------------------------------

TEST(SpindleV2RoundTest, EveryWayOutCountsAndMakesActive) {
  // Iterations and "running" are set in a deferred function upstream: no way out misses it.
  const auto expect_over = [](const Spindle& spindle, int64_t iterations) {
    EXPECT_TRUE(spindle.state.active);
    EXPECT_EQ(spindle.state.iterations, iterations);
    EXPECT_TRUE(spindle.RoundIsOver());
  };
  Spindle failed;
  failed.Starts();
  EXPECT_FALSE(failed.state.active);
  failed.Fails();
  expect_over(failed, 1);
  Spindle follower;
  Follows(follower, kTheirs);
  expect_over(follower, 1);
  Spindle leader;
  Leads(leader, kMine);
  expect_over(leader, 2);
}

}  // namespace
}  // namespace whorl::spindle_v2::spindle_v2_round_test
