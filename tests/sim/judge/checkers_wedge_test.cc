// no_wedge: when its clock runs, when it does not, and the exact instant at which it is violated.
#include <functional>

#include "protocol/spindle_v2/words.h"
#include "tests/sim/judge/checkers_testing.h"

namespace whorl::sim::checkers_wedge_test {
namespace {

constexpr Invariant kWedge = Invariant::kNoWedge;
constexpr Duration kBound = Trace::kBound;
constexpr Duration kJustBefore = kBound - Nanoseconds(1);

// a could take the lock from 1 s on, and nobody holds it.
Trace FreeSince1() {
  Trace trace{"a", "b"};
  trace.At(Seconds(1)).Starts("a");
  return trace;
}

// a would be answered "has lock".
Trace& Holds(Trace& trace, std::string_view node, Duration token) {
  return trace.Grants(node, token).Knows(node, token);
}

TEST(NoWedgeTest, IsViolatedWhenTheClockHasRunForTheBound) {
  // S3 and S6: a free lock that nobody can take any more.
  Trace trace = FreeSince1();
  const CheckReport report = trace.EndsAt(Seconds(100));
  ExpectViolated(report, kWedge, Seconds(1) + kBound, 2, {"31.2s", "lock"});
  EXPECT_EQ(report[kWedge].violations, 1);
}

TEST(NoWedgeTest, IsViolatedAtTheBoundItself) {
  // The boundary: a holder who comes exactly then has come too late.
  Trace trace = FreeSince1();
  trace.At(Seconds(1) + kBound);
  Holds(trace, "a", Seconds(2));
  ExpectViolated(trace.EndsAt(Seconds(100)), kWedge, Seconds(1) + kBound, 2);
}

TEST(NoWedgeTest, HoldsWhenAHolderComesOneNanosecondBeforeTheBound) {
  // The near miss.
  Trace trace = FreeSince1();
  trace.At(Seconds(1) + kJustBefore);
  Holds(trace, "a", Seconds(2));
  ExpectHolds(trace.EndsAt(Seconds(100)), kWedge);
}

TEST(NoWedgeTest, IsUnknownWhenTheRunEndsBeforeTheBound) {
  // A run that is too short must not pass; the report says how much time is missing.
  Trace trace = FreeSince1();
  const CheckReport report = trace.EndsAt(Seconds(11));
  EXPECT_EQ(WordOf(report[kWedge].verdict), "unknown");
  EXPECT_FALSE(report[kWedge].first);
  const std::string& why = report[kWedge].unknown_because;
  EXPECT_NE(why.find("lock \"lock\" for 10s of the 31.2s"), std::string::npos) << why;
  EXPECT_NE(why.find("should last 21.2s longer"), std::string::npos) << why;
}

TEST(NoWedgeTest, IsJudgedAtTheEndWithoutAnotherObservation) {
  // Nothing may happen between the deadline and the end of a run that has wedged.
  Trace trace = FreeSince1();
  const CheckReport report = trace.judge().Finish(InstantOf(Seconds(1) + kBound));
  ExpectViolated(report, kWedge, Seconds(1) + kBound);
  EXPECT_EQ(trace.judge().violations(kWedge), 0);  // Finish() changes nothing
  const CheckReport sooner = trace.judge().Finish(InstantOf(Seconds(1) + kJustBefore));
  EXPECT_EQ(sooner[kWedge].verdict, Verdict::kUnknown);
}

TEST(NoWedgeTest, IsCountedOnceForEachStartOfTheClock) {
  // A lock that wedges, recovers and wedges again did so twice.
  Trace trace = FreeSince1();
  trace.At(Seconds(50));
  Holds(trace, "a", Seconds(50));
  trace.At(Seconds(60)).Deletes("a", "lock");
  const CheckReport report = trace.EndsAt(Seconds(200));
  ExpectViolated(report, kWedge, Seconds(1) + kBound);
  EXPECT_EQ(report[kWedge].violations, 2);
}

TEST(NoWedgeTest, WaitsForTheEndOfTheLastFault) {
  // Two faults overlap; the clock starts when the second one ends.
  Trace trace = FreeSince1();
  trace.At(Seconds(2)).FaultBegins(0).FaultBegins(1);
  trace.At(Seconds(90)).FaultEnds(0);
  trace.At(Seconds(150)).FaultEnds(1);
  ExpectViolated(trace.EndsAt(Seconds(300)), kWedge, Seconds(150) + kBound);
}

TEST(NoWedgeTest, StartsAnewAfterEveryFault) {
  // A fault in the middle takes the time before it back.
  Trace trace = FreeSince1();
  trace.At(Seconds(30)).FaultBegins();
  trace.At(Seconds(30)).FaultEnds();
  trace.At(Seconds(30) + kJustBefore);
  Holds(trace, "a", Seconds(31));
  ExpectHolds(trace.EndsAt(Seconds(300)), kWedge);
}

TEST(NoWedgeTest, HoldsWhileAFaultIsNeverOver) {
  // Nothing is promised under a fault that lasts.
  Trace trace = FreeSince1();
  trace.FaultBegins();
  ExpectHolds(trace.EndsAt(Seconds(300)), kWedge);
}

TEST(NoWedgeTest, WaitsForTransactionsThatHung) {
  // A black-holed call outlives its fault by the connection timeout, and by backoffs after it.
  Trace trace = FreeSince1();
  trace.Begins("a", 7).Hangs("a", 7).Hangs("a", 7).Begins("a", 8).Hangs("a", 8);
  trace.At(Seconds(40)).Finishes("a", 8);
  trace.At(Seconds(50)).Finishes("a", 7, Outcome::kUnknown);
  ExpectViolated(trace.EndsAt(Seconds(100)), kWedge, Seconds(50) + kBound);
}

TEST(NoWedgeTest, ForgetsHangingTransactionsOfAProcessThatIsGone) {
  // Nobody waits for them any more; b is there to take the lock.
  Trace trace = FreeSince1();
  trace.Starts("b").Begins("a", 7).Hangs("a", 7);
  trace.At(Seconds(50)).Crashes("a");
  ExpectViolated(trace.EndsAt(Seconds(100)), kWedge, Seconds(50) + kBound);
}

TEST(NoWedgeTest, IgnoresAHangThatNobodyWaitsFor) {
  // The reply of a transaction that had ended, or whose process is gone, was lost: harmless.
  Trace trace = FreeSince1();
  trace.Starts("b").Begins("a", 7).Finishes("a", 7).Hangs("a", 7).Begins("b", 3);
  trace.At(Seconds(2)).Crashes("b").Hangs("b", 3);
  ExpectViolated(trace.EndsAt(Seconds(100)), kWedge, Seconds(1) + kBound);
}

TEST(NoWedgeTest, ATransactionThatRunsLongWithoutAHangDoesNotStopTheClock) {
  // Waiting for a lock is the protocol's own doing.
  Trace trace = FreeSince1();
  trace.Begins("a", 7);
  ExpectViolated(trace.EndsAt(Seconds(100)), kWedge, Seconds(1) + kBound);
}

TEST(NoWedgeTest, NeedsAHealthyCandidate) {
  // Each of these leaves nobody who could take the lock, until b is there at 60 s.
  using Change = Trace& (*)(Trace&);
  const Change changes[] = {
      [](Trace& t) -> Trace& { return t.Stops("a"); },
      [](Trace& t) -> Trace& { return t.Crashes("a"); },
      [](Trace& t) -> Trace& { return t.Pauses("a"); },
      [](Trace& t) -> Trace& { return t.LinkIs("a", LinkState::kBlackHoled); },
      [](Trace& t) -> Trace& { return t.LinkIs("a", LinkState::kRefused); },
      [](Trace& t) -> Trace& { return t.EndsParticipation("a"); },
  };
  for (const Change change : changes) {
    Trace trace = FreeSince1();
    change(trace.At(Seconds(20)));
    trace.At(Seconds(60)).Starts("b");
    ExpectViolated(trace.EndsAt(Seconds(200)), kWedge, Seconds(60) + kBound);
  }
}

TEST(NoWedgeTest, OneOfTwoCandidatesIsEnough) {
  // The other one's pause or end changes nothing.
  Trace trace = FreeSince1();
  trace.Starts("b").At(Seconds(10)).Pauses("b");
  trace.At(Seconds(20)).Resumes("b").Stops("b");
  ExpectViolated(trace.EndsAt(Seconds(200)), kWedge, Seconds(1) + kBound);
}

TEST(NoWedgeTest, WhoComesAsTheOnlyOtherOneLeavesHasAllOfTheBound) {
  // No candidate was there for long enough. Hunting found this with a deadline and a late start.
  Trace trace = FreeSince1();
  trace.At(Seconds(20)).Starts("b").Stops("a");
  ExpectViolated(trace.EndsAt(Seconds(200)), kWedge, Seconds(20) + kBound);
  Trace overdue = FreeSince1();
  overdue.At(Seconds(90)).Starts("b").Stops("a");
  const CheckReport report = overdue.EndsAt(Seconds(300));
  ExpectViolated(report, kWedge, Seconds(1) + kBound);
  EXPECT_EQ(report[kWedge].violations, 1) << "the clock has started once";
}

TEST(NoWedgeTest, ACandidateIsOneAgainWhenItResumesOrItsLinkIsBack) {
  // What a pause and a partition end with.
  Trace paused = FreeSince1();
  paused.At(Seconds(2)).Pauses("a").At(Seconds(90)).Resumes("a");
  ExpectViolated(paused.EndsAt(Seconds(200)), kWedge, Seconds(90) + kBound);
  Trace cut = FreeSince1();
  cut.At(Seconds(2)).LinkIs("a", LinkState::kBlackHoled);
  cut.At(Seconds(90)).LinkIs("a", LinkState::kUp);
  ExpectViolated(cut.EndsAt(Seconds(200)), kWedge, Seconds(90) + kBound);
}

TEST(NoWedgeTest, AHolderThatWouldNotBeAnsweredIsNone) {
  // S9: heartbeats keep the lease, but nobody would be told "has lock".
  using Change = Trace& (*)(Trace&);
  const Change changes[] = {
      [](Trace& t) -> Trace& { return t.Knows("b", Seconds(2), /*answers=*/false); },
      [](Trace& t) -> Trace& { return t.Knows("b", Seconds(3)); },
      [](Trace& t) -> Trace& { return t.Knows("b", std::nullopt); },
      [](Trace& t) -> Trace& { return t.Stops("b"); },
      [](Trace& t) -> Trace& { return t.Crashes("b"); },
      [](Trace& t) -> Trace& { return t.Pauses("b"); },
      [](Trace& t) -> Trace& { return t.LinkIs("b", LinkState::kRefused); },
      [](Trace& t) -> Trace& { return t.OperatorDeletes("lock"); },
      [](Trace& t) -> Trace& { return t.Grants("a", Seconds(40)); },
  };
  for (const Change change : changes) {
    Trace trace = FreeSince1();
    trace.At(Seconds(2)).Starts("b");
    Holds(trace, "b", Seconds(2));
    change(trace.At(Seconds(40)));
    ExpectViolated(trace.EndsAt(Seconds(200)), kWedge, Seconds(40) + kBound);
  }
}

TEST(NoWedgeTest, EveryLockHasItsOwnClockAndBound) {
  // The least deadline comes first, and a lock's bound follows the nodes that take part in it.
  Scenario scenario = MakeScenario({"a", "b"}, {"x", "y"});
  scenario.nodes[0].locks = {0};
  scenario.nodes[1].locks = {1};
  scenario.nodes[1].lease = Seconds(2);
  Trace trace(scenario);
  trace.At(Seconds(1)).Starts("a").Starts("b");
  const CheckReport report = trace.EndsAt(Seconds(100));
  ExpectViolated(report, kWedge, Seconds(1) + Milliseconds(7'200), 3, {"lock \"y\""});
  EXPECT_EQ(report[kWedge].violations, 2);
}

TEST(NoWedgeTest, TheBoundFollowsTheGreatestLeaseOfThoseThatTakePart) {
  // The longest lease decides the bound, wherever its node is in the list.
  Scenario scenario = MakeScenario({"a", "b", "c"});
  scenario.nodes[0].lease = Seconds(2);
  scenario.nodes[2].lease = Seconds(3);
  Trace trace(scenario);
  trace.At(Seconds(1)).Starts("a");
  ExpectViolated(trace.EndsAt(Seconds(100)), kWedge, Seconds(1) + kBound);
}

TEST(NoWedgeTest, TellsOfTheLockThatNeedsTheLongestRun) {
  // One longer run has to be enough for all locks.
  Trace trace(MakeScenario({"a", "b"}, {"x", "y", "z"}));
  trace.At(Seconds(1)).Starts("a").At(Seconds(2)).Lock("y");
  Holds(trace, "a", Seconds(2));
  trace.At(Seconds(5)).Deletes("a", "y");
  const CheckReport report = trace.EndsAt(Seconds(11));
  EXPECT_EQ(report[kWedge].verdict, Verdict::kUnknown);
  EXPECT_NE(report[kWedge].unknown_because.find("lock \"y\" for 6s"), std::string::npos);
}

TEST(NoWedgeTest, TheClockRestartsForAnotherLockOnlyWhereItStopped) {
  // Taking one lock leaves the other one's clock alone.
  Trace trace(MakeScenario({"a"}, {"x", "y"}));
  trace.At(Seconds(1)).Starts("a");
  trace.At(Seconds(2)).Lock("x");
  Holds(trace, "a", Seconds(2));
  const CheckReport report = trace.EndsAt(Seconds(100));
  ExpectViolated(report, kWedge, Seconds(1) + kBound, 0, {"lock \"y\""});
  EXPECT_EQ(report[kWedge].violations, 1);
}

TEST(NoWedgeTest, AProcessThatLeavesByItsDeadlineIsADisturbance) {
  Trace trace = FreeSince1();
  trace.At(Seconds(15)).Starts("b");
  trace.At(Seconds(20)).EndsParticipation("b");
  ExpectViolated(trace.EndsAt(Seconds(100)), kWedge, Seconds(20) + kBound);
}

// --- what is left behind at Spanner ------------------------------------------------------------

constexpr Duration kIdle = Seconds(10);  // locks outlive their holder by this

// When the free lock of FreeSince1() is violated after `happens` at 20 s.
void ExpectCountedFrom(Duration from, const std::function<void(Trace&)>& happens) {
  Trace trace = FreeSince1();
  trace.At(Seconds(15)).Starts("b");
  trace.At(Seconds(20));
  happens(trace);
  ExpectViolated(trace.EndsAt(Seconds(100)), kWedge, from + kBound);
}

TransactionStarted Started(const Trace& trace, std::string_view node, StepName step) {
  return {.process = trace.Process(node), .lock = 0, .request = 3, .step = step};
}
TransactionFinished Finished(const Trace& trace, std::string_view node, StepName step, Code code) {
  return {.process = trace.Process(node),
          .lock = 0,
          .request = 3,
          .step = step,
          .outcome = Outcome::kAborted,
          .code = code};
}

// b has sent the first call of a heartbeat, and waits for it.
void Awaits(Trace& trace) {
  trace.Happens(Started(trace, "b", spindle_v2::steps::kHeartbeatUpdate))
      .Happens(CallSent{.call = trace.CallOf("b", 3)});
}

TEST(NoWedgeTest, ATransactionThatWasGivenUpKeepsItsLocksForTenSeconds) {
  const auto given_up = [](StepName step, Code code) {
    return [step, code](Trace& trace) {
      trace.Happens(Started(trace, "b", step)).Happens(Finished(trace, "b", step, code));
    };
  };
  for (const Code code : {Code::kDeadlineExceeded, Code::kCancelled, Code::kUnavailable}) {
    ExpectCountedFrom(Seconds(20) + kIdle, given_up(spindle_v2::steps::kHeartbeatUpdate, code));
  }
  // A read locks nothing, and Spanner itself lets go of what it has ABORTED.
  ExpectCountedFrom(Seconds(1), given_up(spindle_v2::steps::kCheck, Code::kDeadlineExceeded));
  ExpectCountedFrom(Seconds(1), given_up(spindle_v2::steps::kHeartbeatUpdate, Code::kAborted));
}

TEST(NoWedgeTest, SoDoesOneWhoseProcessHasCrashed) {
  const auto crash_in = [](StepName step) {
    return [step](Trace& trace) { trace.Happens(Started(trace, "b", step)).Crashes("b"); };
  };
  ExpectCountedFrom(Seconds(20) + kIdle, crash_in(spindle_v2::steps::kTakeoverInsert));
  ExpectCountedFrom(Seconds(1), crash_in(spindle_v2::steps::kCheck));
}

TEST(NoWedgeTest, AStatementThatIsServedLateLocksForTenSecondsMore) {
  const auto served = [](const Request& request, bool awaited) {
    return [request, awaited](Trace& trace) {
      if (awaited) Awaits(trace);
      trace.Happens(CallServed{.call = trace.CallOf("b", 3),
                               .step = spindle_v2::steps::kHeartbeatUpdate,
                               .request = static_cast<uint8_t>(request.index()),
                               .code = Code::kOk});
    };
  };
  ExpectCountedFrom(Seconds(20) + kIdle, served(ExecuteSql{}, /*awaited=*/false));
  ExpectCountedFrom(Seconds(1), served(ExecuteSql{}, /*awaited=*/true));
  // These end the transaction.
  ExpectCountedFrom(Seconds(1), served(Commit{}, /*awaited=*/false));
  ExpectCountedFrom(Seconds(1), served(Rollback{}, /*awaited=*/false));
}

// A proxy that answers in Spanner's place leaves the transaction open, and no client rolls back.
TEST(NoWedgeTest, ACommitThatFailedMayKeepItsLocks) {
  const auto committed = [](Code code) {
    return [code](Trace& trace) {
      Awaits(trace);
      trace.Happens(CallServed{.call = trace.CallOf("b", 3),
                               .step = spindle_v2::steps::kHeartbeatUpdate,
                               .request = static_cast<uint8_t>(Request(Commit{}).index()),
                               .code = code});
    };
  };
  ExpectCountedFrom(Seconds(20) + kIdle, committed(Code::kPermissionDenied));
  // Spanner itself lets go of what it has ABORTED.
  ExpectCountedFrom(Seconds(1), committed(Code::kAborted));
  ExpectCountedFrom(Seconds(1), committed(Code::kOk));
}

TEST(NoWedgeTest, AnAttemptWhoseReplyWasLostLocksForTenSecondsToo) {
  const auto ended = [](StepName step, bool from_spanner) {
    return [step, from_spanner](Trace& trace) {
      trace.Happens(Started(trace, "b", step))
          .Happens(CallEnded{.call = trace.CallOf("b", 3),
                             .step = step,
                             .code = Code::kUnavailable,
                             .from_spanner = from_spanner});
    };
  };
  ExpectCountedFrom(Seconds(20) + kIdle, ended(spindle_v2::steps::kHeartbeatUpdate, false));
  ExpectCountedFrom(Seconds(1), ended(spindle_v2::steps::kHeartbeatUpdate, true));
  ExpectCountedFrom(Seconds(1), ended(spindle_v2::steps::kCheck, false));
}

TEST(NoWedgeTest, ACommitThatNobodyWaitsForTakesTheTimeBeforeItBack) {
  const auto commits = [](bool awaited) {
    return [awaited](Trace& trace) {
      if (awaited) Awaits(trace);
      trace.Happens(TransactionCommitted{
          .call = trace.CallOf("b", 3), .step = spindle_v2::steps::kHeartbeatUpdate, .commit = {}});
    };
  };
  ExpectCountedFrom(Seconds(20), commits(/*awaited=*/false));
  ExpectCountedFrom(Seconds(1), commits(/*awaited=*/true));
}

// b gives up a heartbeat at 20 s and uses its request id again, with the next generation, at 25 s.
Trace ReusesTheIdOfARequestThatItGaveUp() {
  const StepName step = spindle_v2::steps::kHeartbeatUpdate;
  Trace trace = FreeSince1();
  trace.At(Seconds(15)).Starts("b");
  Awaits(trace.At(Seconds(18)));
  trace.At(Seconds(20)).Happens(Finished(trace, "b", step, Code::kDeadlineExceeded));
  CallName next = trace.CallOf("b", 3);
  next.generation = 1;
  trace.At(Seconds(25)).Happens(Started(trace, "b", step)).Happens(CallSent{.call = next});
  return trace;
}

TEST(NoWedgeTest, ACallThatWasGivenUpIsNotAwaitedWhenItsRequestIdIsUsedAgain) {
  // Such a call of spindle_v3, served late, kept its locks, and the protocol was accused of a wedge.
  const StepName step = spindle_v2::steps::kHeartbeatUpdate;
  Trace served = ReusesTheIdOfARequestThatItGaveUp();
  served.At(Seconds(28)).Happens(CallServed{.call = served.CallOf("b", 3), .step = step});
  ExpectViolated(served.EndsAt(Seconds(100)), kWedge, Seconds(28) + kIdle + kBound);
  Trace committed = ReusesTheIdOfARequestThatItGaveUp();
  committed.At(Seconds(31))
      .Happens(TransactionCommitted{.call = committed.CallOf("b", 3), .step = step, .commit = {}});
  ExpectViolated(committed.EndsAt(Seconds(100)), kWedge, Seconds(31) + kBound);
}

TEST(NoWedgeTest, AHangOfACallThatWasGivenUpDelaysNothing) {
  Trace trace = ReusesTheIdOfARequestThatItGaveUp();
  trace.Happens(CallHangs{.call = trace.CallOf("b", 3)});
  ExpectViolated(trace.EndsAt(Seconds(200)), kWedge, Seconds(20) + kIdle + kBound);
}

TEST(NoWedgeTest, EndlessTimeoutsExcuseALockForSoLongOnly) {
  // A lock whose transactions all time out is wedged, however often they do.
  Trace trace = FreeSince1();
  for (int seconds = 2; seconds < 300; seconds += 5) {
    trace.At(Seconds(seconds))
        .Happens(Started(trace, "a", spindle_v2::steps::kHeartbeatUpdate))
        .Happens(
            Finished(trace, "a", spindle_v2::steps::kHeartbeatUpdate, Code::kDeadlineExceeded));
  }
  const CheckReport report = trace.EndsAt(Seconds(300));
  ExpectViolated(report, kWedge, Seconds(1) + kBound + kIdle + kBound);
  EXPECT_EQ(report[kWedge].violations, 1);
}

TEST(NoWedgeTest, ADisturbanceMovesTheLimitOfExcuses) {
  // What a process gives up after another has crashed may be due to the crash.
  Trace trace = FreeSince1();
  trace.Starts("b").At(Seconds(20)).EndsParticipation("b");
  for (int seconds = 21; seconds < 300; seconds += 5) {
    trace.At(Seconds(seconds))
        .Happens(Finished(trace, "a", spindle_v2::steps::kHeartbeatUpdate, Code::kUnavailable));
  }
  ExpectViolated(trace.EndsAt(Seconds(300)), kWedge, Seconds(20) + kBound + kIdle + kBound);
}

// What b sent before 20 s is served at 30, 40 and 50 s, and then keeps its locks: for longer than
// excuses may last in all.
Trace ServedLate(Trace trace) {
  const auto is_served = [&trace](int seconds) {
    trace.At(Seconds(seconds))
        .Happens(CallServed{.call = trace.CallOf("b", 3),
                            .step = spindle_v2::steps::kHeartbeatUpdate,
                            .request = static_cast<uint8_t>(Request(ExecuteSql{}).index()),
                            .code = Code::kOk});
  };
  is_served(30);
  is_served(40);
  is_served(50);
  return trace;
}

TEST(NoWedgeTest, WhatAProcessThatIsGoneHadSentMovesTheLimitToo) {
  Trace trace = FreeSince1();
  trace.Starts("b").At(Seconds(20)).Crashes("b");
  ExpectViolated(ServedLate(trace).EndsAt(Seconds(300)), kWedge, Seconds(50) + kIdle + kBound);
}

TEST(NoWedgeTest, WhatAProcessHadSentBeforeItsDeadlineMovesTheLimitToo) {
  Trace trace = FreeSince1();
  trace.Starts("b").At(Seconds(20)).EndsParticipation("b");
  ExpectViolated(ServedLate(trace).EndsAt(Seconds(300)), kWedge, Seconds(50) + kIdle + kBound);
}

}  // namespace
}  // namespace whorl::sim::checkers_wedge_test
