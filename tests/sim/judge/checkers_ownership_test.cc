// has_lock_truthful, lease_respected, isolation, fenced_writes_ordered, single_leader_belief: the
// violations that each must catch, and near misses.
#include "tests/sim/judge/checkers_testing.h"

namespace whorl::sim::checkers_ownership_test {
namespace {

constexpr Invariant kTruthful = Invariant::kHasLockTruthful;
constexpr Invariant kLease = Invariant::kLeaseRespected;
constexpr Invariant kIsolation = Invariant::kIsolation;
constexpr Invariant kFenced = Invariant::kFencedWritesOrdered;
constexpr Invariant kBelief = Invariant::kSingleLeaderBelief;

// --- has_lock_truthful -------------------------------------------------------------------------

// a owns the lock from 1 s to 20 s, then b does.
Trace OwnedByAThenB() {
  Trace trace = HeldByA();
  trace.At(Seconds(20)).Grants("b", Seconds(20)).Knows("b", Seconds(20));
  return trace;
}

TEST(HasLockTruthfulTest, CatchesAYesOfWhoNoLongerOwnedItWhenAsking) {
  // The application would act on a lock that another one had held all the while.
  Trace trace = OwnedByAThenB();
  trace.At(Seconds(21)).IsAnsweredYes("a", Seconds(20) + Nanoseconds(1));
  ExpectViolated(trace.EndsAt(Seconds(22)), kTruthful, Seconds(21), 7, {"a", "21s", "since 20s"});
}

TEST(HasLockTruthfulTest, AllowsAYesWhoseIntervalTouchesTheOwnership) {
  // Asked at the very instant of the takeover: at that instant it was still true.
  Trace trace = OwnedByAThenB();
  trace.At(Seconds(21)).IsAnsweredYes("a", Seconds(20));
  ExpectHolds(trace.EndsAt(Seconds(22)), kTruthful);
}

TEST(HasLockTruthfulTest, AllowsAYesThatWasTrueWhileItWasUnderWay) {
  // The answer is old when it arrives; that is what fencing is for.
  Trace trace = OwnedByAThenB();
  trace.At(Seconds(40)).IsAnsweredYes("a", Seconds(19)).IsAnsweredYes("b", Seconds(39));
  ExpectHolds(trace.EndsAt(Seconds(41)), kTruthful);
}

TEST(HasLockTruthfulTest, AllowsAYesOfWhoBecameOwnerAtTheInstantOfTheAnswer) {
  // The other end of the interval.
  Trace trace{"a"};
  trace.At(Seconds(1)).Starts("a");
  trace.At(Seconds(2)).Grants("a", Seconds(2)).IsAnsweredYes("a", Seconds(1));
  ExpectHolds(trace.EndsAt(Seconds(3)), kTruthful);
}

TEST(HasLockTruthfulTest, CatchesAYesOfWhoNeverOwnedIt) {
  // S6 would be one if spindle answered it: no row, and still "got the lock".
  Trace trace = TakenByA();
  trace.At(Seconds(2)).IsAnsweredYes("b", Seconds(1), {}, Question::kHasLock2);
  ExpectViolated(trace.EndsAt(Seconds(3)), kTruthful, Seconds(2), 4, {"b", "never owned"});
}

TEST(HasLockTruthfulTest, CatchesAYesAboutADeletedRow) {
  // An operator's deletion ends the ownership as a takeover does.
  Trace trace{"a"};
  trace.At(Seconds(1)).Starts("a").Grants("a", Seconds(1));
  trace.At(Seconds(2)).OperatorDeletes("lock");
  trace.At(Seconds(3))
      .IsAnsweredYes("a", Seconds(2))
      .IsAnsweredYes("a", Seconds(2) + Nanoseconds(1));
  const CheckReport report = trace.EndsAt(Seconds(4));
  ExpectViolated(report, kTruthful, Seconds(3), 5);
  EXPECT_EQ(report[kTruthful].violations, 1);
}

TEST(HasLockTruthfulTest, DoesNotCreditAProcessWithItsPredecessorsLock) {
  // The next incarnation of the node is another process and has won nothing.
  Trace trace{"a"};
  trace.At(Seconds(1)).Starts("a").Grants("a", Seconds(1));
  trace.At(Seconds(2)).Crashes("a").Starts("a");
  trace.At(Seconds(3)).IsAnsweredYes("a", Seconds(2));
  ExpectViolated(trace.EndsAt(Seconds(4)), kTruthful, Seconds(3), 0, {"a#2"});
}

TEST(HasLockTruthfulTest, ALateGrantOfADeadPredecessorDoesNotEraseTheOwnersPast) {
  // A commit of the crashed process may still land after its successor held the lock.
  Trace trace{"a", "b"};
  trace.At(Seconds(1)).Starts("a").Starts("b");
  const ProcessId old_a = trace.Process("a");
  trace.At(Seconds(2)).Crashes("a").Starts("a").Grants("a", Seconds(2));
  const Row late = {std::string("lock"), Stamp(Seconds(3)), Stamp(Seconds(3)), Null{}};
  trace.At(Seconds(3)).Commits(old_a, "lock", late, Seconds(3));
  trace.At(Seconds(4)).Grants("b", Seconds(4));
  trace.At(Seconds(5)).IsAnsweredYes("a", Seconds(2));
  ExpectHolds(trace.EndsAt(Seconds(6)), kTruthful);
}

TEST(HasLockTruthfulTest, IgnoresNoAndOtherQuestions) {
  // Leader() answers yes to having an answer.
  Trace trace = TakenByA();
  trace.IsTold("b", false, Seconds(1)).IsAnsweredYes("b", Seconds(1), {}, Question::kLeader);
  ExpectHolds(trace.EndsAt(Seconds(2)), kTruthful);
}

// --- lease_respected ---------------------------------------------------------------------------

// a takes the lock at 1 s and renews it at 5 s: its lease lasts until 15 s.
Trace HeldByAUntil15() {
  Trace trace = TakenByA();
  trace.At(Seconds(5)).Heartbeats("a");
  return trace;
}

TEST(LeaseRespectedTest, CatchesATakeoverOneNanosecondEarly) {
  // The owner relies on its lease to the end.
  Trace trace = HeldByAUntil15();
  trace.At(Seconds(15)).Grants("b", Seconds(14), Seconds(15) - Nanoseconds(1));
  ExpectViolated(trace.EndsAt(Seconds(16)), kLease, Seconds(15), 5,
                 {"b took lock \"lock\" from a", "1ns before", "00:00:15Z"});
}

TEST(LeaseRespectedTest, AllowsATakeoverExactlyAtTheLeasesEnd) {
  // The commit timestamp counts, not the instant at which it becomes visible.
  Trace trace = HeldByAUntil15();
  trace.At(Seconds(15) - Milliseconds(1)).Grants("b", Seconds(14), Seconds(15));
  ExpectHolds(trace.EndsAt(Seconds(16)), kLease);
}

TEST(LeaseRespectedTest, CatchesTheRemovalOfAnotherNodesRow) {
  // S7: the heartbeat of lock `job` deletes the row of lock `job_daily`.
  Trace trace(MakeScenario({"a", "b"}, {"job", "job_daily"}));
  trace.At(Seconds(1)).Starts("a").Starts("b");
  trace.Lock("job_daily").Grants("a", Seconds(1));
  trace.At(Seconds(2)).Lock("job").Deletes("b", "job_daily");
  ExpectViolated(trace.EndsAt(Seconds(3)), kLease, Seconds(2), 4,
                 {"removed lock \"job_daily\"", "a"});
}

TEST(LeaseRespectedTest, AllowsRemovalByTheOwnerAndByAnOperator) {
  // The owner's own node may do as it likes, and an operator is no node.
  Trace trace{"a"};
  trace.At(Seconds(1)).Starts("a").Grants("a", Seconds(1));
  trace.At(Seconds(2)).Deletes("a", "lock").Grants("a", Seconds(2));
  trace.At(Seconds(3)).OperatorDeletes("lock");
  ExpectHolds(trace.EndsAt(Seconds(4)), kLease);
}

TEST(LeaseRespectedTest, AllowsAnotherIncarnationOfTheOwnersNode) {
  // A restarted process that takes back its own node's lock disturbs nobody.
  Trace trace{"a"};
  trace.At(Seconds(1)).Starts("a").Grants("a", Seconds(1));
  trace.At(Seconds(2)).Crashes("a").Starts("a").Grants("a", Seconds(2));
  ExpectHolds(trace.EndsAt(Seconds(3)), kLease);
}

TEST(LeaseRespectedTest, DoesNotJudgeRowsOfTheStart) {
  // Such rows have no owner, so there is no lease to respect.
  Trace trace{"b"};
  trace.RowIsThere("lock", Seconds(-5), Seconds(-1));
  trace.At(Seconds(1)).Starts("b").Grants("b", Seconds(1));
  ExpectHolds(trace.EndsAt(Seconds(2)), kLease);
}

TEST(LeaseRespectedTest, CountsOnlyHeartbeatsThatTheOwnerWrote) {
  // S8: a deposed leader's heartbeat renews the row, but not the owner's lease.
  Trace trace = TakenByA();
  trace.At(Seconds(5)).Heartbeats("b");
  trace.At(Seconds(11)).Grants("b", Seconds(11));
  ExpectHolds(trace.EndsAt(Seconds(12)), kLease);
}

TEST(LeaseRespectedTest, MeasuresWithTheOwnersLeaseRaisedToTheMinimum) {
  // S15: a pod with a shorter lease takes a live one; and 200 ms are one second in spindle.
  Scenario scenario = MakeScenario({"a", "b"});
  scenario.nodes[0].lease = Milliseconds(200);
  scenario.nodes[1].lease = Seconds(3);
  Trace early(scenario);
  early.At(Seconds(1)).Starts("a").Starts("b").Grants("a", Seconds(1));
  early.At(Milliseconds(1'999)).Grants("b", Milliseconds(1'999));
  ExpectViolated(early.EndsAt(Seconds(3)), kLease, Milliseconds(1'999));

  Trace timely(scenario);
  timely.At(Seconds(1)).Starts("a").Starts("b").Grants("a", Seconds(1));
  timely.At(Seconds(2)).Grants("b", Seconds(2));
  timely.At(Seconds(4)).Grants("a", Seconds(4));
  ExpectViolated(timely.EndsAt(Seconds(5)), kLease, Seconds(4));
}

TEST(LeaseRespectedTest, AllowsAHeartbeatOfAnotherNode) {
  // It neither changes nor removes the owner.
  Trace trace = HeldByAUntil15();
  trace.At(Seconds(6)).Heartbeats("b");
  ExpectHolds(trace.EndsAt(Seconds(7)), kLease);
}

// --- isolation ---------------------------------------------------------------------------------

Trace TwoLocks(const std::string& first, const std::string& second) {
  Trace trace(MakeScenario({"a"}, {first, second}));
  trace.At(Seconds(1)).Starts("a");
  return trace;
}

TEST(IsolationTest, AllowsTheOwnRowAndItsTakeoverRows) {
  // What spindle v2 writes when all is well.
  Trace trace = TwoLocks("job", "other");
  trace.Lock("job").Grants("a", Seconds(1)).Heartbeats("a");
  trace.Inserts("a", "job_17241709254077376921").Deletes("a", "job_17241709254077376921");
  ExpectHolds(trace.EndsAt(Seconds(2)), kIsolation);
}

TEST(IsolationTest, CatchesTheDeletionOfAnotherLocksRow) {
  // S7: STARTS_WITH(name, 'job_') finds the row of lock `job_daily`.
  Trace trace = TwoLocks("job", "job_daily");
  trace.Lock("job_daily").Grants("a", Seconds(1));
  trace.At(Seconds(2)).Lock("job").Deletes("a", "job_daily");
  ExpectViolated(trace.EndsAt(Seconds(3)), kIsolation, Seconds(2), 3, {"deleted", "job_daily"});
}

TEST(IsolationTest, CatchesTheDeletionOfAnotherLocksTakeoverRow) {
  // S7b: `job_daily_<h>` goes too, so that two processes win the same round.
  Trace trace = TwoLocks("job", "job_daily");
  trace.Lock("job_daily").Inserts("a", "job_daily_123");
  trace.At(Seconds(2)).Lock("job").Deletes("a", "job_daily_123");
  ExpectViolated(trace.EndsAt(Seconds(3)), kIsolation, Seconds(2), 3, {"job_daily_123"});
}

TEST(IsolationTest, CatchesATakeoverRowThatIsALocksName) {
  // `job_123` is decimal, but it is a lock of its own.
  Trace trace = TwoLocks("job", "job_123");
  trace.Lock("job").Inserts("a", "job_123");
  ExpectViolated(trace.EndsAt(Seconds(3)), kIsolation, Seconds(1), 2, {"wrote", "job_123"});
}

TEST(IsolationTest, AllowsTheTakeoverRowOfALockWhoseNameLooksLikeOne) {
  // `job_123_9` is `job_123`'s; `job` may not touch it.
  Trace trace = TwoLocks("job", "job_123");
  trace.Lock("job_123").Inserts("a", "job_123_9");
  ExpectHolds(trace.EndsAt(Seconds(3)), kIsolation);
  trace.At(Seconds(4)).Lock("job").Deletes("a", "job_123_9");
  ExpectViolated(trace.EndsAt(Seconds(5)), kIsolation, Seconds(4));
}

TEST(IsolationTest, CatchesKeysThatOnlyResembleTakeoverRows) {
  // No digits, no underscore, or something before the name.
  for (const char* key : {"job_", "job_12a", "job12", "job_-1", "xjob_12", "jo", ""}) {
    Trace trace = TwoLocks("job", "other");
    trace.Lock("job").Inserts("a", key);
    ExpectViolated(trace.EndsAt(Seconds(3)), kIsolation, Seconds(1));
  }
}

TEST(IsolationTest, DoesNotJudgeNobody) {
  // Rows of the start, and an operator's deletions.
  Trace trace{"a"};
  trace.RowIsThere("else", std::nullopt, std::nullopt).OperatorDeletes("else");
  ExpectHolds(trace.EndsAt(Seconds(3)), kIsolation);
}

// --- fenced_writes_ordered ---------------------------------------------------------------------

TEST(FencedWritesOrderedTest, CatchesAnAcceptedTokenBelowOneAccepted) {
  // A fence that lets a smaller token pass is no fence.
  Trace trace{"a", "b"};
  trace.At(Seconds(1)).Starts("a").Starts("b");
  trace.Writes("a", true, true, 5).Writes("a", true, true, 9).Writes("b", true, true, 7);
  ExpectViolated(trace.EndsAt(Seconds(2)), kFenced, Seconds(1), 5, {"b", "7", "9"});
}

TEST(FencedWritesOrderedTest, ComparesWithTheGreatestTokenNotWithTheLast) {
  // One small token that was let pass is no licence for those that come after it.
  Trace trace{"a", "b"};
  trace.At(Seconds(1)).Starts("a").Starts("b");
  trace.Writes("a", true, true, 9).Writes("b", true, true, 5).Writes("b", true, true, 7);
  EXPECT_EQ(trace.EndsAt(Seconds(2))[kFenced].violations, 2);
}

TEST(FencedWritesOrderedTest, AllowsEqualTokensRefusedOnesAndOtherResources) {
  // The same holder writes often; a refusal is right; the other resource does not fence.
  Trace trace(MakeScenario({"a"}, {"x", "y"}));
  trace.At(Seconds(1)).Starts("a").Lock("x");
  trace.Writes("a", true, true, 9).Writes("a", true, true, 9).Writes("a", true, false, 8);
  trace.Writes("a", false, true, 7).Lock("y").Writes("a", true, true, 6);
  ExpectHolds(trace.EndsAt(Seconds(2)), kFenced);
}

// --- single_leader_belief ----------------------------------------------------------------------

TEST(SingleLeaderBeliefTest, CatchesASecondBeliever) {
  // S10: a leader that is cut off hears no callback(0).
  Trace trace{"a", "b"};
  trace.At(Seconds(1)).Starts("a").Starts("b").Believes("a");
  trace.At(Seconds(3)).Believes("b");
  ExpectViolated(trace.EndsAt(Seconds(4)), kBelief, Seconds(3), 4, {"b", "while a"});
}

TEST(SingleLeaderBeliefTest, AllowsOneAfterTheOther) {
  // In one instant too, when the old belief has lapsed first.
  Trace trace{"a", "b"};
  trace.At(Seconds(1)).Starts("a").Starts("b").Believes("a").Believes("a");
  trace.At(Seconds(2)).Believes("a", false).Believes("b");
  ExpectHolds(trace.EndsAt(Seconds(3)), kBelief);
}

TEST(SingleLeaderBeliefTest, DoesNotCountCrashedOrStoppedBelievers) {
  // The definition: neither crashed nor stopped.
  Trace trace{"a", "b", "c"};
  trace.At(Seconds(1)).Starts("a").Starts("b").Starts("c").Believes("a").Crashes("a");
  trace.At(Seconds(2)).Believes("b").Stops("b").Believes("b");
  trace.At(Seconds(3)).Starts("a").Believes("c");
  const CheckReport report = trace.EndsAt(Seconds(4));
  ExpectHolds(report, kBelief);
  EXPECT_EQ(report.metrics[Metric::kBeliefOverlapSum], 0);
}

TEST(SingleLeaderBeliefTest, KeepsLocksApart) {
  // Two locks have two leaders.
  Trace trace(MakeScenario({"a", "b"}, {"x", "y"}));
  trace.At(Seconds(1)).Starts("a").Starts("b").Lock("x").Believes("a").Lock("y").Believes("b");
  ExpectHolds(trace.EndsAt(Seconds(2)), kBelief);
}

}  // namespace
}  // namespace whorl::sim::checkers_ownership_test
