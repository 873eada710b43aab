// spindle_v2's heartbeat loop beside the rounds, what a heartbeat is, and how a Run ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/spindle_v2/spindle_v2.h"
#include "protocol/spindle_v2/words.h"
#include "tests/protocol/spindle_v2_testing.h"

namespace whorl::spindle_v2::spindle_v2_heartbeat_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using SpindleV2HeartbeatTest = SpindleTest;
using SpindleV2HeartbeatLoopTest = SpindleTest;
using SpindleV2StopTest = SpindleTest;

const Timestamp kMine = At(Seconds(1));
const Timestamp kTheirs = At(Seconds(-3));

// The upper ends of the pauses drawn so far.
std::vector<Duration> UpperEnds(const Spindle& spindle) {
  std::vector<Duration> ends;
  for (const ScriptedEntropy::Draw& draw : spindle.entropy.draws) {
    EXPECT_EQ(draw.purpose, purposes::kHeartbeatPause);
    EXPECT_EQ(draw.lo, 1);
    ends.push_back({draw.hi});
  }
  return ends;
}

// --- what a heartbeat is -----------------------------------------------------------------------

TEST_F(SpindleV2HeartbeatTest, IsAnUpdateAndACleanUpThatDoesNotLook) {
  // The clean-up lets another process take over again (S3), and deletes rows of others (S7, S8).
  Leads(spindle, kMine);
  spindle.Wakes();
  const Transaction& beat = spindle.InBeat();
  EXPECT_EQ(beat.mode, Mode::kReadWrite);
  EXPECT_EQ(beat.step, steps::kHeartbeatUpdate);
  ASSERT_EQ(beat.statements.size(), 2U);
  EXPECT_EQ(beat.statements[0].step, steps::kHeartbeatUpdate);
  EXPECT_EQ(beat.statements[0].statement.parameters, (std::vector<Value>{"job"}));
  EXPECT_FALSE(beat.statements[0].statement.ignore_error);
  EXPECT_EQ(beat.statements[1].step, steps::kHeartbeatDelete);
  EXPECT_EQ(beat.statements[1].statement.parameters, (std::vector<Value>{"job_"}));
  EXPECT_TRUE(beat.statements[1].statement.ignore_error);
}

TEST_F(SpindleV2HeartbeatTest, OfTheRoundIsTheSameTransactionAsTheLoops) {
  // There is one heartbeat, called from two places.
  WinsFirst(spindle, kMine);
  spindle.TicksAndSees(9'990, kMine);
  spindle.Wakes();
  EXPECT_EQ(spindle.InRound(), spindle.InBeat());
}

TEST_F(SpindleV2HeartbeatTest, AnErrorChangesNothing) {
  // It is logged and forgotten: the leader goes on leading (S10), and the next beat comes as ever.
  Leads(spindle, kMine);
  spindle.Wakes();
  const State before = spindle.state;
  spindle.BeatFails();
  ASSERT_EQ(spindle.did.size(), 2U);
  EXPECT_EQ(spindle.did[0], "note heartbeat failed 'INTERNAL: lost'");
  EXPECT_THAT(spindle.did[1], testing::StartsWith("set wake "));
  EXPECT_EQ(spindle.state.runs[0]->leader, before.runs[0]->leader);
  EXPECT_TRUE(spindle.Believes());
}

TEST_F(SpindleV2HeartbeatLoopTest, LooksOnceASecondWhileItIsNotTheLeader) {
  // So that the first beat of a new leader can come a second after it noticed.
  Follows(spindle, kTheirs);
  for (int second = 1; second < 5; ++second) {
    spindle.Wakes();
    EXPECT_EQ(spindle.now, ShownAfter(Seconds(second)));
    EXPECT_THAT(spindle.did, ElementsAre("set wake " + std::to_string(second + 1) + "s"));
  }
  EXPECT_THAT(spindle.entropy.draws, IsEmpty());
}

TEST_F(SpindleV2HeartbeatLoopTest, LooksAsOftenAsTheConfigurationSays) {
  // Exploration on a coarse grid of time needs other numbers than those that ship.
  spindle.config.constants.follower_sleep = Seconds(3);
  Follows(spindle, kTheirs);
  spindle.Wakes();
  EXPECT_EQ(spindle.now, ShownAfter(Seconds(3)));
}

TEST_F(SpindleV2HeartbeatLoopTest, BeatsAndThenSleepsThePauseThatItDrewBefore) {
  // The gap between two beats is the pause and the call: a slow Commit makes it longer (S13).
  spindle = Spindle(MakeTestConfig(Seconds(1)));
  Leads(spindle, kMine);
  spindle.entropy.next = {600'000'000};
  spindle.At(Seconds(30));
  EXPECT_THAT(spindle.Wakes(), ElementsAre("run heartbeat_update"));
  spindle.At(Milliseconds(30'250));
  EXPECT_THAT(spindle.BeatCommits(), ElementsAre("set wake 30.85s"));
}

TEST_F(SpindleV2HeartbeatLoopTest, DrawsUntilThePauseIsAtLeastHalfTheLease) {
  // Shorter draws are thrown away, each of them doubling the range of the next one.
  spindle = Spindle(MakeTestConfig(Seconds(10)));
  Leads(spindle, kMine);
  const int64_t half = Seconds(5).ns;
  spindle.entropy.next = {Seconds(1).ns, Seconds(2).ns, 1, half - 1, half};
  spindle.Wakes();
  EXPECT_THAT(UpperEnds(spindle),
              ElementsAre(Seconds(1), Seconds(2), Seconds(4), Seconds(8), Seconds(10)));
  spindle.BeatCommits();
  EXPECT_EQ(spindle.timers.at(Spindle::TimerOf(0, 1)), spindle.now + Seconds(5));
}

TEST_F(SpindleV2HeartbeatLoopTest, TheRangeIsCappedAtTheLeaseAndNeverReset) {
  // From the third beat on every pause is between d/2 and d, also after the process followed for a
  // while.
  spindle = Spindle(MakeTestConfig(Seconds(3)));
  Leads(spindle, kMine);
  spindle.Wakes();
  EXPECT_THAT(UpperEnds(spindle), ElementsAre(Seconds(1), Seconds(2)));
  spindle.BeatCommits();
  spindle.Wakes();
  spindle.BeatCommits();
  spindle.TicksAndSees(500, kTheirs);
  spindle.Wakes();
  spindle.TicksAndSees(500, kMine);
  spindle.Commits({});
  spindle.entropy.draws.clear();
  spindle.Wakes();
  EXPECT_THAT(UpperEnds(spindle), ElementsAre(Seconds(3)));
}

TEST_F(SpindleV2HeartbeatLoopTest, AtTheShortestLeaseTheFirstDrawCanDo) {
  // d = 1 s: from [1 ns, 1 s] at once, so that no gap exceeds d + 1 s (S13 has probability 0).
  spindle = Spindle(MakeTestConfig(Seconds(1)));
  Leads(spindle, kMine);
  spindle.entropy.next = {500'000'000};
  spindle.Wakes();
  EXPECT_THAT(UpperEnds(spindle), ElementsAre(Seconds(1)));
}

TEST_F(SpindleV2HeartbeatLoopTest, SlowRoundsDoNotStopIt) {
  // The two loops share the counter and nothing else: a hanging check keeps the lease alive.
  Leads(spindle, kMine);
  spindle.Ticks();
  ASSERT_FALSE(spindle.RoundIsOver());
  for (int beat = 0; beat < 3; ++beat) {
    EXPECT_THAT(spindle.Wakes(), ElementsAre("run heartbeat_update"));
    spindle.BeatCommits();
  }
}

TEST_F(SpindleV2HeartbeatLoopTest, AFollowerStopsBeatingWhenItNoticesNotWhenItLost) {
  // S8: until its next check a deposed leader beats on, over the new leader's lease.
  Leads(spindle, kMine);
  spindle.Wakes();
  EXPECT_TRUE(spindle.IsBeating());
  spindle.BeatCommits();
  spindle.TicksAndSees(500, kTheirs);
  spindle.Wakes();
  EXPECT_FALSE(spindle.IsBeating());
  EXPECT_THAT(spindle.did.front(), testing::StartsWith("set wake "));
}

TEST_F(SpindleV2StopTest, NothingReleasesTheRow) {
  // Others wait the whole lease out, as after a crash; and no callback is made.
  Leads(spindle, kMine);
  EXPECT_THAT(spindle.Stops(), ElementsAre("cancel tick"));
  EXPECT_FALSE(spindle.state.active);
  EXPECT_EQ(spindle.state.own_token, kMine);
}

TEST_F(SpindleV2StopTest, ARoundInFlightGoesOnAndMakesItActiveForGood) {
  // The goroutine of the round does not look at the context: it may still take the lock.
  spindle.Starts();
  spindle.Stops();
  EXPECT_THAT(spindle.SeesNoRow(), ElementsAre("run first_insert"));
  spindle.Commits(kMine);
  EXPECT_EQ(spindle.state.own_token, kMine);
  EXPECT_TRUE(spindle.state.active);
  EXPECT_FALSE(spindle.HasTimer(0)) << "no further tick";
  EXPECT_THAT(spindle.Asks(Question::kHasLock), ElementsAre("run has_lock"));
}

TEST_F(SpindleV2StopTest, ARoundInFlightMayStillCallBack) {
  // A user who cancelled can be told "leader" afterwards.
  WinsFirst(spindle, kMine);
  spindle.Ticks();
  spindle.Stops();
  spindle.Sees(9'990, kMine);
  EXPECT_THAT(spindle.Commits({}), ElementsAre("callback 1"));
}

TEST_F(SpindleV2StopTest, CancellingEndsTheHeartbeatLoopAtItsNextLook) {
  // "Not foolproof due to delay", as upstream says: it sleeps its pause out first.
  Leads(spindle, kMine);
  spindle.Stops();
  EXPECT_THAT(spindle.Wakes(), IsEmpty());
  EXPECT_FALSE(spindle.HasTimer(Spindle::TimerOf(0, 1)));
}

TEST_F(SpindleV2StopTest, AHeartbeatInFlightIsNotCancelled) {
  // It runs under a context of its own, and keeps the dead lease alive once more.
  Leads(spindle, kMine);
  spindle.Wakes();
  spindle.Stops();
  EXPECT_TRUE(spindle.IsBeating());
  spindle.BeatCommits();
  EXPECT_THAT(spindle.Wakes(), IsEmpty());
}

TEST_F(SpindleV2StopTest, ADeadlineDoesNotEndTheHeartbeatLoop) {
  // S9: the loop only knows "cancelled"; the lease lives as long as the process, and nobody would
  // be answered "has lock".
  Leads(spindle, kMine);
  spindle.Stops(StopReason::kDeadline);
  EXPECT_FALSE(spindle.state.active);
  for (int beat = 0; beat < 10; ++beat) {
    EXPECT_THAT(spindle.Wakes(), ElementsAre("run heartbeat_update"));
    spindle.BeatCommits();
  }
  EXPECT_THAT(spindle.Asks(Question::kHasLock), ElementsAre("HasLock no"));
}

TEST_F(SpindleV2StopTest, TheFirstReasonStays) {
  // A context that ended by its deadline stays ended so, even if it is cancelled afterwards.
  Leads(spindle, kMine);
  spindle.Stops(StopReason::kDeadline);
  EXPECT_THAT(spindle.Stops(StopReason::kCancelled), IsEmpty());
  spindle.Wakes();
  EXPECT_TRUE(spindle.IsBeating());
}

TEST_F(SpindleV2StopTest, AFollowersLoopUnderADeadlineGoesOnLooking) {
  // It costs a wake-up per second for the life of the process.
  Follows(spindle, kTheirs);
  spindle.Stops(StopReason::kDeadline);
  EXPECT_THAT(spindle.Wakes(), ElementsAre("set wake 2s"));
}

TEST_F(SpindleV2StopTest, StoppingWhatDoesNotRunDoesNothing) {
  // A process may be stopped before it ever started.
  EXPECT_THAT(spindle.Stops(), IsEmpty());
  EXPECT_EQ(spindle.state, State());
}

TEST_F(SpindleV2StopTest, AnInstanceCanRunAgain) {
  // It keeps its token, and leads again as soon as its check finds that nobody took it over.
  Leads(spindle, kMine);
  spindle.Stops();
  spindle.Wakes();
  spindle.At(Seconds(12));
  EXPECT_THAT(spindle.Starts(), ElementsAre("set tick 22s", "set wake 13s", "run check"));
  EXPECT_THAT(spindle.Sees(2'000, kMine), ElementsAre("run heartbeat_update"));
  EXPECT_THAT(spindle.Commits({}), ElementsAre("callback 1"));
}

}  // namespace
}  // namespace whorl::spindle_v2::spindle_v2_heartbeat_test
