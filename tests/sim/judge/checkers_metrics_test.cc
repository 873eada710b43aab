// The metrics and `sometimes` counters of a run, from crafted traces.
#include "tests/sim/judge/checkers_testing.h"

namespace whorl::sim::checkers_metrics_test {
namespace {

TEST(MetricsTest, CountsGrantsAndTakeovers) {
  // A re-acquisition by the same process is a grant and no takeover; the first grant takes
  // nothing over; another incarnation is another process.
  Trace trace = HeldByA();
  trace.At(Seconds(20)).Grants("a", Seconds(20)).Heartbeats("a").Inserts("a", "lock_12");
  trace.At(Seconds(40)).Grants("b", Seconds(40));
  trace.At(Seconds(41)).Crashes("b").Starts("b").Grants("b", Seconds(41));
  const Metrics metrics = trace.EndsAt(Seconds(50)).metrics;
  EXPECT_EQ(metrics[Metric::kGrants], 4);
  EXPECT_EQ(metrics[Metric::kTakeovers], 2);
  EXPECT_EQ(metrics[Sometimes::kTakeover], 2);
  EXPECT_EQ(metrics[Sometimes::kRelease], 0);
}

TEST(MetricsTest, ARowOfTheStartIsNoGrantAndTakingItNoTakeover) {
  // Its last owner is nobody.
  Trace trace{"a"};
  trace.RowIsThere("lock", Seconds(-30), Seconds(-30));
  trace.At(Seconds(1)).Starts("a").Grants("a", Seconds(1));
  const Metrics metrics = trace.EndsAt(Seconds(2)).metrics;
  EXPECT_EQ(metrics[Metric::kGrants], 1);
  EXPECT_EQ(metrics[Metric::kTakeovers], 0);
}

TEST(MetricsTest, RemembersTheLastOwnerOfADeletedRow) {
  // The lock changes hands although its row was gone in between.
  Trace trace = HeldByA();
  trace.At(Seconds(2)).OperatorDeletes("lock").Grants("b", Seconds(2));
  EXPECT_EQ(trace.EndsAt(Seconds(3)).metrics[Metric::kTakeovers], 1);
}

TEST(MetricsTest, ATakeoverOfARenewingOwnerIsNeedless) {
  // Up, connected, and its lease had 1 ns to run.
  Trace trace = HeldByA();
  trace.At(Seconds(11)).Grants("b", Seconds(11), Seconds(11) - Nanoseconds(1));
  const Metrics metrics = trace.EndsAt(Seconds(20)).metrics;
  EXPECT_EQ(metrics[Metric::kNeedlessTakeovers], 1);
  EXPECT_EQ(metrics[Sometimes::kNeedlessTakeover], 1);
}

TEST(MetricsTest, ATakeoverOfAnOwnerThatCouldNotRenewIsNotNeedless) {
  // Expired to the nanosecond, or not up, not connected, not taking part.
  Trace expired = HeldByA();
  expired.At(Seconds(11)).Grants("b", Seconds(11));
  EXPECT_EQ(expired.EndsAt(Seconds(20)).metrics[Metric::kNeedlessTakeovers], 0);

  using Change = Trace& (*)(Trace&);
  const Change changes[] = {
      [](Trace& t) -> Trace& { return t.Stops("a"); },
      [](Trace& t) -> Trace& { return t.Crashes("a"); },
      [](Trace& t) -> Trace& { return t.Crashes("a").Starts("a"); },
      [](Trace& t) -> Trace& { return t.Pauses("a"); },
      [](Trace& t) -> Trace& { return t.LinkIs("a", LinkState::kBlackHoled); },
      [](Trace& t) -> Trace& { return t.EndsParticipation("a"); },
  };
  for (const Change change : changes) {
    Trace trace = HeldByA();
    change(trace.At(Seconds(2))).Grants("b", Seconds(2));
    const Metrics metrics = trace.EndsAt(Seconds(20)).metrics;
    EXPECT_EQ(metrics[Metric::kTakeovers], 1);
    EXPECT_EQ(metrics[Metric::kNeedlessTakeovers], 0);
  }
}

TEST(MetricsTest, TimeWithoutAHolderRunsFromTheStartToTheEnd) {
  // Before the first grant, while the holder is paused, and after it crashed: 1 s + 3 s + 10 s.
  Trace trace = HeldByA();
  trace.At(Seconds(5)).Pauses("a");
  trace.At(Seconds(8)).Resumes("a");
  trace.At(Seconds(20)).Crashes("a");
  const Metrics metrics = trace.EndsAt(Seconds(30)).metrics;
  EXPECT_EQ(metrics[Metric::kWithoutHolderSum], Seconds(14).ns);
  EXPECT_EQ(metrics[Metric::kWithoutHolderMax], Seconds(10).ns);
}

TEST(MetricsTest, TimeWithoutAHolderIsSummedOverLocksAndItsMaximumIsOverThem) {
  // One lock is held from 4 s on, the other never.
  Trace trace(MakeScenario({"a"}, {"x", "y"}));
  trace.Starts("a").At(Seconds(4)).Lock("x").Grants("a", Seconds(4)).Knows("a", Seconds(4));
  const Metrics metrics = trace.EndsAt(Seconds(10)).metrics;
  EXPECT_EQ(metrics[Metric::kWithoutHolderSum], Seconds(14).ns);
  EXPECT_EQ(metrics[Metric::kWithoutHolderMax], Seconds(10).ns);
}

TEST(MetricsTest, OverlapOfBeliefsIsMeasuredFromTheSecondToTheLastButOne) {
  // 2 s while two believe, 5 s while two and then three do and until one is left.
  Trace trace{"a", "b", "c"};
  trace.Starts("a").Starts("b").Starts("c");
  trace.At(Seconds(1)).Believes("a");
  trace.At(Seconds(2)).Believes("b").At(Seconds(4)).Believes("a", false);
  trace.At(Seconds(10)).Believes("a").At(Seconds(12)).Believes("c");
  trace.At(Seconds(14)).Believes("b", false).At(Seconds(15)).Crashes("c");
  const Metrics metrics = trace.EndsAt(Seconds(30)).metrics;
  EXPECT_EQ(metrics[Metric::kBeliefOverlapSum], Seconds(7).ns);
  EXPECT_EQ(metrics[Metric::kBeliefOverlapMax], Seconds(5).ns);
}

TEST(MetricsTest, AnOverlapThatLastsEndsWithTheRun) {
  // W1: nothing ever tells the old holder.
  Trace trace = HeldByA();
  trace.At(Seconds(2)).Believes("a").Believes("b");
  EXPECT_EQ(trace.EndsAt(Seconds(9)).metrics[Metric::kBeliefOverlapMax], Seconds(7).ns);
}

TEST(MetricsTest, JudgesWritesByTheOwnerAtTheirArrival) {
  // Legitimate is who owns the newest version when the write arrives, whatever it was when sent.
  Trace trace = HeldByA();
  trace.Writes("a", true, true, 1).Writes("a", false, true, 1);  // neither counts
  trace.At(Seconds(20)).Grants("b", Seconds(20));
  trace.Writes("a", true, false, 1);                              // stale, refused
  trace.Writes("a", false, true, 1).Writes("a", false, true, 1);  // stale, accepted
  trace.Writes("a", true, true, 1);   // stale, accepted by the fence: no metric of its own
  trace.Writes("b", true, false, 0);  // S12: the rightful leader is refused
  trace.OperatorDeletes("lock").Writes("b", true, false, 0);  // no row, so stale
  const Metrics metrics = trace.EndsAt(Seconds(21)).metrics;
  EXPECT_EQ(metrics[Metric::kStaleWriteRefused], 2);
  EXPECT_EQ(metrics[Sometimes::kStaleWriteRefused], 2);
  EXPECT_EQ(metrics[Metric::kStaleWriteAccepted], 2);
  EXPECT_EQ(metrics[Metric::kLegitimateWriteRefused], 1);
  EXPECT_EQ(metrics[Sometimes::kLegitimateWriteRefused], 1);
}

TEST(MetricsTest, ALateWriteOfAnEarlierTermOfTheOwnersOwnIsStale) {
  // It was slow, and its process has lost the lock and won it again meanwhile: refused by right.
  Trace trace = HeldByA();
  trace.SendsWrite("a", true, 1).SendsWrite("a", false, 1);
  trace.At(Seconds(20)).Grants("b", Seconds(20));
  trace.At(Seconds(40)).Grants("a", Seconds(40)).SendsWrite("a", true, 40);
  trace.At(Seconds(41)).Writes("a", true, true, 40).Writes("a", true, false, 1);
  trace.Writes("a", false, true, 1);
  const Metrics metrics = trace.EndsAt(Seconds(42)).metrics;
  EXPECT_EQ(metrics[Metric::kStaleWriteRefused], 1);
  EXPECT_EQ(metrics[Metric::kStaleWriteAccepted], 1);
  EXPECT_EQ(metrics[Metric::kLegitimateWriteRefused], 0);
}

TEST(MetricsTest, ARenewalThatReplacesTheTokenMakesNoWriteStale) {
  Scenario scenario = MakeScenario({"a"});
  scenario.protocol = "spindle_v3";
  Trace trace(scenario);
  OneRow row(trace);
  trace.Starts("a");
  row.At(Seconds(1)).Acquires("a");
  trace.At(Seconds(2)).SendsWrite("a", true, 1);
  row.At(Seconds(3)).Beats("a");
  trace.Writes("a", true, false, 1);
  EXPECT_EQ(trace.EndsAt(Seconds(4)).metrics[Metric::kLegitimateWriteRefused], 1);
}

TEST(MetricsTest, CountsCallsTransactionsAndWhatBecameOfThem) {
  // One of each kind, so that no two counters can stand in each other's place.
  Trace trace = HeldByA();
  for (int i = 0; i < 3; ++i) trace.Happens(CallSent{.call = trace.CallOf("a", 9)});
  for (int i = 0; i < 5; ++i) trace.Happens(CallWaits{.call = trace.CallOf("a", 1)});
  for (int i = 0; i < 7; ++i) trace.Happens(LateReplyIgnored{.call = trace.CallOf("a", 1)});
  for (int i = 0; i < 2; ++i) {
    trace.Happens(TransactionAbortedBySpanner{.call = trace.CallOf("a", 1)});
  }
  trace.Begins("a", 1).Begins("b", 1).Begins("a", 2).Begins("a", 3);
  trace.Hangs("a", 1).Hangs("a", 2).Hangs("a", 3);
  trace.Finishes("a", 1, Outcome::kUnknown).Finishes("a", 2, Outcome::kAborted);
  trace.Finishes("a", 3, Outcome::kCommitted).Finishes("b", 1, Outcome::kCommitted);
  trace.Happens(TransactionCommitted{.call = trace.CallOf("a", 3), .waited_for_truetime = false});
  trace.Happens(TransactionCommitted{.call = trace.CallOf("b", 1), .waited_for_truetime = true});
  const Metrics metrics = trace.EndsAt(Seconds(2)).metrics;
  EXPECT_EQ(metrics[Metric::kRpcs], 3 + 3) << "those that hang have been sent";
  EXPECT_EQ(metrics[Metric::kTransactions], 4);
  EXPECT_EQ(metrics[Metric::kAborted], 2);
  EXPECT_EQ(metrics[Sometimes::kAborted], 2);
  EXPECT_EQ(metrics[Sometimes::kLockWait], 5);
  EXPECT_EQ(metrics[Sometimes::kLateReplyIgnored], 7);
  EXPECT_EQ(metrics[Sometimes::kUnknownOutcome], 1);
  EXPECT_EQ(metrics[Sometimes::kUnknownResolved], 2);
  EXPECT_EQ(metrics[Sometimes::kCommitWaitOverlap], 1);
  EXPECT_EQ(metrics[Sometimes::kClockStopNoticed], 0);
}

TEST(MetricsTest, SteppingDownIsTheProcessesOwnDoing) {
  // callback(0) is one; a crash, a stop, and what comes after either are not.
  Trace trace{"a", "b", "c", "d"};
  for (const char* node : {"a", "b", "c", "d"}) {
    trace.Starts(node).Knows(node, Seconds(1), true, /*believes=*/true);
  }
  trace.At(Seconds(2)).Knows("a", Seconds(1), true, false).Knows("a", Seconds(2), true, false);
  trace.Crashes("b").Knows("b", Seconds(1), true, false);
  trace.Stops("c").Knows("c", Seconds(1), true, false);
  trace.EndsParticipation("d").Knows("d", Seconds(1), true, false);
  EXPECT_EQ(trace.EndsAt(Seconds(3)).metrics[Sometimes::kStepDown], 1);
}

}  // namespace
}  // namespace whorl::sim::checkers_metrics_test
