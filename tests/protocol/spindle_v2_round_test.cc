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

using SpindleV2TickerTest = SpindleTest;
using SpindleV2CheckTest = SpindleTest;
using SpindleV2LeaderTest = SpindleTest;
using SpindleV2FirstInsertTest = SpindleTest;
using SpindleV2TakeoverTest = SpindleTest;

const Timestamp kMine = At(Seconds(1));
const Timestamp kTheirs = At(Seconds(-3));

// --- the ticker --------------------------------------------------------------------------------

TEST_F(SpindleV2TickerTest, EveryLeaseARound) {
  // A follower's takeover can come as late as one period after the lease ran out.
  Follows(spindle, kTheirs);
  for (int round = 1; round < 5; ++round) {
    spindle.Ticks();
    EXPECT_EQ(spindle.now, ShownAfter(Seconds(10 * round)));
    EXPECT_EQ(spindle.did.back(), "run check");
    spindle.Sees(500, kTheirs);
  }
}

TEST_F(SpindleV2TickerTest, ATickThatFindsARoundRunningIsSkipped) {
  // A hanging check makes rounds rarer, it does not queue them up.
  spindle.Starts();
  EXPECT_THAT(spindle.Ticks(), ElementsAre("set tick 20s"));
  EXPECT_THAT(spindle.Ticks(), ElementsAre("set tick 30s"));
  spindle.At(Seconds(25));
  EXPECT_THAT(spindle.Sees(500, kTheirs), ElementsAre("callback 0")) << "no round is made up for";
  EXPECT_EQ(spindle.state.iterations, 1);
}

TEST_F(SpindleV2TickerTest, KeepsItsPhaseAfterALateTickOrSeveral) {
  // After a pause one tick is pending, as Go's ticker holds one, and the next ones fall where they
  // would have fallen.
  spindle.At(Seconds(3));
  Follows(spindle, kTheirs);
  spindle.At(Milliseconds(47'500));
  EXPECT_THAT(spindle.Ticks(), ElementsAre("set tick 53s", "run check"));
  spindle.Sees(500, kTheirs);
  spindle.At(Seconds(103));
  EXPECT_THAT(spindle.Ticks(), ElementsAre("set tick 113s", "run check"));
}

TEST_F(SpindleV2CheckTest, AnErrorDoesNothingInThisRound) {
  // "On the safer side" upstream: no callback, so a leader that cannot ask goes on leading (S10).
  Leads(spindle, kMine);
  spindle.Ticks();
  EXPECT_THAT(spindle.Fails(Code::kDeadlineExceeded),
              ElementsAre("note read failed 'DEADLINE_EXCEEDED: lost'"));
  EXPECT_TRUE(spindle.Believes());
  EXPECT_EQ(spindle.state.runs[0]->leader, 1) << "the counter is kept";
  EXPECT_EQ(spindle.state.iterations, 3) << "but it was a round";
}

TEST_F(SpindleV2CheckTest, ALiveLeaseOfAnotherMakesAFollower) {
  // The only place where callback(0) is made.
  spindle.Starts();
  EXPECT_THAT(spindle.Sees(500, kTheirs), ElementsAre("callback 0"));
}

// The state of a process that saw an age of `age_ms` under a lease of 10 s: did it follow?
bool FollowsAt(Value age_ms) {
  Spindle spindle;
  spindle.Starts();
  spindle.Sees(std::move(age_ms), kTheirs);
  return spindle.did == std::vector<std::string>{"callback 0"};
}

TEST_F(SpindleV2CheckTest, ALeaseIsOverFromOneSecondAndOneMillisecondBeyondItsLength) {
  // d + 1000 ms follows, d + 1001 ms takes: this is upstream's allowance for drift.
  for (const int64_t age_ms : {1, 9'999, 10'000, 10'001, 11'000}) {
    EXPECT_TRUE(FollowsAt(age_ms)) << age_ms;
  }
  EXPECT_FALSE(FollowsAt(11'001));
  EXPECT_FALSE(FollowsAt(63'900'000'000'000)) << "a heartbeat of the year 1, beyond any duration";
  EXPECT_FALSE(FollowsAt(std::numeric_limits<int64_t>::max()));
}

TEST_F(SpindleV2CheckTest, AnAgeOfZeroOrLessCountsAsAvailable) {
  // S5: a heartbeat of this very millisecond, or one ahead of Spanner's clock, loses its lease.
  EXPECT_FALSE(FollowsAt(0));
  EXPECT_FALSE(FollowsAt(-1));
  EXPECT_FALSE(FollowsAt(std::numeric_limits<int64_t>::min()));
  EXPECT_FALSE(FollowsAt(Null{})) << "Go reads a NULL difference as 0";
}

TEST_F(SpindleV2CheckTest, ExpiryIsByTheObserversOwnLease) {
  // S15: the row does not say for how long it was taken, so a pod with a shorter d takes it early.
  spindle = Spindle(MakeTestConfig(Seconds(2)));
  spindle.Starts();
  EXPECT_THAT(spindle.Sees(3'001, kTheirs), ElementsAre("run first_insert"));
}

TEST_F(SpindleV2CheckTest, AnAvailableLockMakesNoCallbackAndKeepsTheCounter) {
  // A leader whose row vanished, or whose token was replaced and has expired, is not told.
  Leads(spindle, kMine);
  EXPECT_THAT(spindle.TicksAndSees(0, kTheirs), ElementsAre("run first_insert"));
  EXPECT_EQ(spindle.state.runs[0]->leader, 1);
  EXPECT_TRUE(spindle.Believes());
}

TEST_F(SpindleV2CheckTest, ANullTokenIsNobodys) {
  // A takeover row under a lock's own name has no token; no process may take it for its own.
  spindle.Starts();
  EXPECT_THAT(spindle.Sees(500, Null{}), ElementsAre("callback 0"));
}

TEST_F(SpindleV2LeaderTest, TheOwnerDoesNotLookAtTheAge) {
  // However long it slept: as long as nobody took over, the token is its own and so is the lock.
  for (const int64_t age_ms : {-50, 0, 5'000, 3'600'000}) {
    spindle = Spindle();
    Leads(spindle, kMine);
    EXPECT_THAT(spindle.TicksAndSees(age_ms, kMine), ElementsAre("callback 1")) << age_ms;
  }
}

TEST_F(SpindleV2LeaderTest, IsToldAlsoWhenThatHeartbeatFailed) {
  // All results of a heartbeat are thrown away, this one's too.
  for (const bool unknown : {false, true}) {
    spindle = Spindle();
    WinsFirst(spindle, kMine);
    spindle.TicksAndSees(9'990, kMine);
    unknown ? spindle.EndsUnknown() : spindle.Fails();
    EXPECT_EQ(spindle.did.back(), "callback 1");
  }
}

TEST_F(SpindleV2LeaderTest, IsToldInEveryRound) {
  // Users who count callbacks see one per period, not one per change.
  Leads(spindle, kMine);
  for (int round = 0; round < 3; ++round) {
    EXPECT_THAT(spindle.TicksAndSees(5'000, kMine), ElementsAre("callback 1"));
  }
  EXPECT_EQ(spindle.state.runs[0]->leader, 4);
}

TEST_F(SpindleV2LeaderTest, TheHeartbeatOfARoundAndTheLoopsMayRunAtTheSameTime) {
  // The loop sees the counter once it is 1, while the round's own beat is still under way.
  WinsFirst(spindle, kMine);
  spindle.TicksAndSees(9'990, kMine);
  EXPECT_THAT(spindle.Wakes(), ElementsAre("run heartbeat_update"));
  EXPECT_FALSE(spindle.RoundIsOver());
  EXPECT_TRUE(spindle.IsBeating());
}

TEST_F(SpindleV2LeaderTest, OnlyCallbackZeroResetsTheCounter) {
  // Only then does the next notice beat at once again, and only then do heartbeats stop.
  Leads(spindle, kMine);
  spindle.Ticks();
  spindle.Fails();
  spindle.TicksAndSees(0, kTheirs);
  spindle.Fails(Code::kAlreadyExists);
  spindle.Fails();
  EXPECT_EQ(spindle.state.runs[0]->leader, 1);
  EXPECT_THAT(spindle.TicksAndSees(500, kTheirs), ElementsAre("callback 0"));
  EXPECT_EQ(spindle.state.runs[0]->leader, 0);
  EXPECT_EQ(spindle.state.own_token, kMine) << "never cleared once set";
  EXPECT_THAT(spindle.TicksAndSees(500, kMine), ElementsAre("run heartbeat_update"));
}

TEST_F(SpindleV2FirstInsertTest, IsTriedAgainAfterASuccess) {
  // `initial` stays 1 for the winner: should its row be deleted, it inserts it anew.
  WinsFirst(spindle, kMine);
  spindle.Ticks();
  EXPECT_THAT(spindle.SeesNoRow(), ElementsAre("run first_insert"));
  spindle.Commits(At(Seconds(11)));
  EXPECT_EQ(spindle.state.own_token, At(Seconds(11)));
}

TEST_F(SpindleV2FirstInsertTest, AnyErrorFallsThroughToTheTakeoverInTheSameRound) {
  // S1: the loser of a race goes on at once and takes the winner's milliseconds-old lease.
  for (const Code code : {Code::kAlreadyExists, Code::kInternal, Code::kDeadlineExceeded}) {
    spindle = Spindle();
    spindle.Starts();
    spindle.SeesNoRow();
    EXPECT_THAT(spindle.Fails(code), ElementsAre("run reread")) << WordOf(code);
    EXPECT_EQ(spindle.state.iterations, 0) << "still the same round";
  }
}

TEST_F(SpindleV2FirstInsertTest, AnUnknownOutcomeIsAnErrorToo) {
  // Go's client returns an error, whatever became of the Commit: its own lease may be what it
  // takes.
  spindle.Starts();
  spindle.SeesNoRow();
  EXPECT_THAT(spindle.EndsUnknown(), ElementsAre("run reread"));
  EXPECT_EQ(spindle.state.own_token, std::nullopt);
}

TEST_F(SpindleV2FirstInsertTest, IsNeverTriedAgainAfterAnError) {
  // `initial` is 0 for good, even where the row is absent (S6).
  spindle.Starts();
  spindle.SeesNoRow();
  spindle.Fails(Code::kAlreadyExists);
  spindle.Fails();
  spindle.Ticks();
  EXPECT_THAT(spindle.SeesNoRow(), ElementsAre("run reread"));
}

// --- the takeover ------------------------------------------------------------------------------

// Up to the second read, by a process that has lost the INSERT.
void Takes(Spindle& spindle) {
  spindle.Starts();
  spindle.Sees(60'000, kTheirs);
  spindle.Fails(Code::kAlreadyExists);
}

TEST_F(SpindleV2TakeoverTest, TheSecondReadDoesNotJudgeWhatItSees) {
  // S2: whatever token it reads is the one it takes over from, however fresh, its own included.
  for (const Timestamp seen : {kTheirs, At(Seconds(5)), kMine}) {
    spindle = Spindle();
    Takes(spindle);
    EXPECT_THAT(spindle.Rereads(seen, "b"), ElementsAre("run takeover_insert"));
    EXPECT_EQ(spindle.Parameters()[0], Value(TakeoverRowName("job", HashOf(seen))));
  }
}

TEST_F(SpindleV2TakeoverTest, AnErrorOfTheSecondReadEndsTheRound) {
  // Logged, and tried again a period later.
  Takes(spindle);
  EXPECT_THAT(spindle.Fails(), ElementsAre("note read failed 'INTERNAL: lost'"));
  EXPECT_TRUE(spindle.RoundIsOver());
  EXPECT_EQ(spindle.state.iterations, 1);
}

TEST_F(SpindleV2TakeoverTest, AnAbsentRowIsTakenOverFromTheEmptyToken) {
  // S6: the row of the well-known name blocks every later takeover of this kind.
  Takes(spindle);
  spindle.SeesNoRow();
  EXPECT_EQ(spindle.Parameters()[0], Value("job_17241709254077376921"));
}

TEST_F(SpindleV2TakeoverTest, ALostInsertEndsTheRoundInSilence) {
  // S3: a takeover row that nobody deletes is met here for ever, without a line in any log.
  for (const bool unknown : {false, true}) {
    spindle = Spindle();
    Takes(spindle);
    spindle.Rereads(kTheirs);
    unknown ? spindle.EndsUnknown() : spindle.Fails(Code::kAlreadyExists);
    EXPECT_THAT(spindle.did, IsEmpty());
    EXPECT_TRUE(spindle.RoundIsOver());
    EXPECT_EQ(spindle.state.own_token, std::nullopt);
    EXPECT_EQ(spindle.state.iterations, 1);
  }
}

TEST_F(SpindleV2TakeoverTest, TheTokenIsTheTakeoverRowsCommitTimestamp) {
  // Not the UPDATE's: the token is older than the heartbeat that is written with it (S4). It is own
  // only after the UPDATE: in between it would answer "has lock" for a token that no row holds.
  Takes(spindle);
  spindle.Rereads(kTheirs);
  EXPECT_THAT(spindle.Commits(At(Seconds(7))), ElementsAre("run takeover_update"));
  EXPECT_EQ(spindle.Parameters()[1], Value(At(Seconds(7))));
  EXPECT_EQ(spindle.state.own_token, std::nullopt);
  EXPECT_THAT(spindle.Commits(At(Seconds(8))),
              ElementsAre("note got the next lock 2026-01-01T00:00:07Z"));
  EXPECT_EQ(spindle.state.own_token, At(Seconds(7)));
}

TEST_F(SpindleV2TakeoverTest, AFailedUpdateIsLoggedAndLeavesTheTakeoverRow) {
  // S3 by another way: nothing undoes the INSERT.
  for (const bool unknown : {false, true}) {
    spindle = Spindle();
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

TEST_F(SpindleV2TakeoverTest, AnUpdateOfNoRowCountsAsWon) {
  // S6: "got the lock", and nobody holds it: the count of changed rows is not looked at.
  Takes(spindle);
  spindle.SeesNoRow();
  spindle.Commits(At(Seconds(7)));
  EXPECT_THAT(spindle.CommitsWithoutARow(At(Seconds(8))),
              ElementsAre("note got the next lock 2026-01-01T00:00:07Z"));
  EXPECT_EQ(spindle.state.own_token, At(Seconds(7)));
}

TEST_F(SpindleV2TakeoverTest, LeadershipIsNoticedInALaterRoundOnly) {
  // As for the first winner: one period passes before callback(1).
  Takes(spindle);
  spindle.Rereads(kTheirs);
  spindle.Commits(At(Seconds(7)));
  spindle.Commits(At(Seconds(8)));
  EXPECT_TRUE(spindle.RoundIsOver());
  EXPECT_EQ(spindle.state.runs[0]->leader, 0);
  EXPECT_THAT(spindle.TicksAndSees(9'000, At(Seconds(7))), ElementsAre("run heartbeat_update"));
}

TEST_F(SpindleV2TakeoverTest, ALeaderWhoseCounterWasKeptDoesNotBeatBeforeItsNextCallback) {
  // It lost its lock, took it back before it was ever told, and its counter still stands at 1.
  Leads(spindle, kMine);
  spindle.TicksAndSees(12'000, kTheirs);
  spindle.Fails(Code::kAlreadyExists);
  spindle.Rereads(kTheirs);
  spindle.Commits(At(Seconds(21)));
  spindle.Commits(At(Seconds(22)));
  EXPECT_EQ(spindle.state.own_token, At(Seconds(21)));
  EXPECT_EQ(spindle.state.runs[0]->leader, 1) << "so that no extra heartbeat comes before callback";
  EXPECT_THAT(spindle.TicksAndSees(8'000, At(Seconds(21))), ElementsAre("callback 1"));
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
