// reasoned_step_down and prompt_handover on crafted traces of fenced_lease, with leases of ten seconds.
#include <optional>
#include <string>

#include "protocol/fenced_lease/words.h"
#include "sim/scenario/faults/kinds.h"
#include "tests/sim/judge/checkers_testing.h"

namespace whorl::sim::checkers_handover_test {
namespace {

using fenced_lease::steps::kBeat;
using fenced_lease::steps::kRelease;
using fenced_lease::steps::kTake;

constexpr Invariant kReason = Invariant::kReasonedStepDown;
constexpr Invariant kHandover = Invariant::kPromptHandover;
constexpr Duration kRoundTrips = Seconds(1) + Trace::kRoundTrip * 8;

Scenario Fenced(bool announces = false) {
  Scenario scenario = MakeScenario({"a", "b"});
  scenario.protocol = "fenced_lease";
  scenario.network.announce_releases = announces;
  // Fault 0 disturbs the run; fault 1 is an orderly stop.
  scenario.faults.push_back({.trigger = Instant{}, .node = 0, .what = PauseFault{}});
  scenario.faults.push_back({.trigger = Instant{}, .node = 0, .what = StopFault{}});
  return scenario;
}

// The row of the lock, and the transactions that write it.
struct Row1 {
  explicit Row1(bool announces = false) : trace(Fenced(announces)), row(trace) {
    trace.At(Duration{}).Starts("a").Starts("b");
  }
  Row1& At(Duration at) {
    now = at;
    trace.At(at);
    return *this;
  }
  Row1& Begins(StepName step, RequestId request = 0, const std::string& node = "a") {
    trace.Happens(TransactionStarted{
        .process = trace.Process(node), .lock = 0, .request = request, .step = step});
    return *this;
  }
  Row1& Ends(StepName step, Outcome outcome = Outcome::kCommitted, RequestId request = 0) {
    trace.Happens(TransactionFinished{.process = trace.Process("a"),
                                      .lock = 0,
                                      .request = request,
                                      .step = step,
                                      .outcome = outcome});
    return *this;
  }
  Row1& Writes(StepName step, const std::string& node = "a") {
    if (step == kTake) token = now;
    const bool released = step == kRelease;
    row.At(now).Commits(
        trace.Process(node), step,
        Row{std::string("lock"), Stamp(now), Stamp(token), released ? Value(Null{}) : Value(node),
            int64_t{10'000}, released ? Value(Null{}) : Value(node)});
    return *this;
  }
  Row1& OperatorReleases() {
    row.At(now).Commits(
        ProcessId{}, kRelease,
        Row{std::string("lock"), Stamp(now), Stamp(token), Null{}, int64_t{10'000}, Null{}});
    return *this;
  }
  // a takes the lock at 1 s, in a transaction that began then, and believes a tenth of a second later.
  Row1& Leads() {
    At(Seconds(1)).Begins(kTake).At(Milliseconds(1'050)).Writes(kTake);
    At(Milliseconds(1'100)).Ends(kTake);
    trace.Knows("a", token, true, true).Believes("a");
    return *this;
  }
  Row1& Beats(Duration at) {
    return At(at).Begins(kBeat).At(at + Milliseconds(50)).Writes(kBeat).Ends(kBeat);
  }
  Row1& StepsDown(Duration at) {
    At(at).trace.Knows("a", std::nullopt, false, false).Believes("a", false);
    return *this;
  }
  // Its part and its work end.
  Row1& IsStopped(Duration at) {
    At(at).trace.FaultBegins(1).Stops("a").Believes("a", false).EndsParticipation("a");
    trace.FaultEnds(1);
    return *this;
  }
  CheckReport AtEnd(Duration at = Seconds(60)) { return trace.EndsAt(at); }

  Trace trace;
  OneRow row;
  Duration now;
  Duration token;
};

// --- reasoned_step_down --------------------------------------------------------------------------

TEST(ReasonedStepDownTest, ADeadlineIsAReasonFromNearlyALeaseOn) {
  Row1 row;
  row.Leads().StepsDown(Milliseconds(10'500));
  ExpectHolds(row.AtEnd(), kReason);
  Row1 early;
  early.Leads().StepsDown(Milliseconds(10'499));
  ExpectViolated(
      early.AtEnd(), kReason, Milliseconds(10'499), 0,
      {"a ceased to lead lock \"lock\"", "9.499s after it began to renew a lease of 10s"});
}

TEST(ReasonedStepDownTest, ARenewalThatIsKnownMovesTheDeadline) {
  Row1 row;
  row.Leads().Beats(Seconds(7)).StepsDown(Milliseconds(10'500));
  ExpectViolated(row.AtEnd(), kReason, Milliseconds(10'500));
}

// What was committed, and the process does not know of, moves nothing.
TEST(ReasonedStepDownTest, ARenewalOfUnknownOutcomeDoesNot) {
  Row1 row;
  row.Leads().At(Seconds(7)).Begins(kBeat).Writes(kBeat).At(Seconds(9));
  row.Ends(kBeat, Outcome::kUnknown).StepsDown(Milliseconds(10'500));
  ExpectHolds(row.AtEnd(), kReason);
}

TEST(ReasonedStepDownTest, AFailedHeartbeatIsNoReason) {
  Row1 row;
  row.Leads().At(Seconds(7)).Begins(kBeat).Ends(kBeat, Outcome::kAborted).StepsDown(Seconds(7));
  ExpectViolated(row.AtEnd(), kReason, Seconds(7));
}

TEST(ReasonedStepDownTest, ALossIsAReason) {
  Row1 taken;
  taken.Leads().At(Seconds(3)).Begins(kTake, 0, "b").Writes(kTake, "b").StepsDown(Seconds(4));
  ExpectHolds(taken.AtEnd(), kReason);
  Row1 released;
  released.Leads().At(Seconds(3)).OperatorReleases().StepsDown(Seconds(4));
  ExpectHolds(released.AtEnd(), kReason);
}

TEST(ReasonedStepDownTest, AClockThatWasChangedIsAReasonIfItWasItsOwn) {
  Row1 own;
  own.Leads().At(Seconds(3)).trace.Happens(ClockChanged{.node = 0, .stands = true});
  ExpectHolds(own.StepsDown(Seconds(4)).AtEnd(), kReason);
  Row1 anothers;
  anothers.Leads().At(Seconds(3)).trace.Happens(ClockChanged{.node = 1, .stands = true});
  ExpectViolated(anothers.StepsDown(Seconds(4)).AtEnd(), kReason, Seconds(4));
  Row1 before;
  before.trace.At(Milliseconds(500)).Happens(ClockChanged{.node = 0, .stands = true});
  ExpectViolated(before.Leads().StepsDown(Seconds(4)).AtEnd(), kReason, Seconds(4));
}

TEST(ReasonedStepDownTest, AStopAndACrashAreReasons) {
  Row1 stopped;
  stopped.Leads().IsStopped(Seconds(3)).StepsDown(Seconds(3));
  ExpectHolds(stopped.AtEnd(), kReason);
  Row1 crashed;
  crashed.Leads().At(Seconds(3)).trace.Believes("a", false).Crashes("a");
  ExpectHolds(crashed.AtEnd(), kReason);
}

// --- prompt_handover: given back -----------------------------------------------------------------

TEST(PromptHandoverTest, ALockThatIsNotGivenBackIsAViolation) {
  Row1 row;
  row.Leads().IsStopped(Seconds(3));
  ExpectViolated(row.AtEnd(), kHandover, Seconds(3) + kRoundTrips, 0,
                 {"a had not given lock \"lock\" back 1.4s after"});
}

TEST(PromptHandoverTest, ALockThatIsGivenBackInTimeIsNot) {
  Row1 row;
  row.Leads().IsStopped(Seconds(3)).At(Seconds(3) + kRoundTrips).Writes(kRelease);
  row.At(Seconds(5)).Writes(kTake, "b");
  ExpectHolds(row.AtEnd(), kHandover);
}

TEST(PromptHandoverTest, TheTimeBeginsWithTheEndOfTheWork) {
  Row1 row;
  row.Leads().At(Seconds(2)).trace.IsAtWork("a");
  row.IsStopped(Seconds(3)).At(Seconds(6)).trace.IsAtWork("a", false);
  ExpectViolated(row.AtEnd(), kHandover, Seconds(6) + kRoundTrips);
}

// Its work ended when the lease was nearly over, as far as the row says.
TEST(PromptHandoverTest, ALeaseThatIsOverIsNotGivenBack) {
  Row1 row;
  row.Leads().At(Seconds(2)).trace.IsAtWork("a");
  row.IsStopped(Seconds(3)).At(Milliseconds(10'400)).trace.IsAtWork("a", false);
  ExpectHolds(row.AtEnd(), kHandover);
}

// It never learned that its last renewal was committed, so its own deadline is over before the row's.
TEST(PromptHandoverTest, AProcessWhoseOwnDeadlineIsOverGivesNothingBack) {
  Row1 row;
  row.Leads().At(Seconds(2)).trace.IsAtWork("a");
  row.IsStopped(Seconds(3)).At(Seconds(9)).Writes(kBeat);
  row.At(Seconds(11)).trace.Knows("a", std::nullopt, false, false);
  row.At(Seconds(12)).trace.IsAtWork("a", false);
  ExpectHolds(row.AtEnd(), kHandover);
}

TEST(PromptHandoverTest, ARowThatItNeverBelievedInNeedNotBeGivenBack) {
  Row1 row;
  row.At(Seconds(1)).Begins(kTake).Writes(kTake).Ends(kTake);
  row.At(Seconds(3)).trace.Stops("a").EndsParticipation("a");
  ExpectHolds(row.AtEnd(), kHandover);
}

TEST(PromptHandoverTest, ADisturbanceIsAnExcuseForAsLongAsItIsFelt) {
  for (const Duration before : {Milliseconds(1'999), Seconds(2)}) {
    SCOPED_TRACE(FormatDuration(before));
    Row1 row;
    row.Leads().At(Seconds(5) - before).trace.FaultBegins(0).FaultEnds(0);
    row.IsStopped(Seconds(5));
    const CheckReport report = row.AtEnd();
    EXPECT_EQ(WordOf(report[kHandover].verdict), before < Seconds(2) ? "holds" : "violated");
  }
  Row1 meanwhile;
  meanwhile.Leads().IsStopped(Seconds(3)).At(Seconds(4)).trace.FaultBegins(0).FaultEnds(0);
  ExpectHolds(meanwhile.AtEnd(), kHandover);
}

// --- prompt_handover: taken ----------------------------------------------------------------------

// 7 s, and what 0.1 % of a clock makes of them.
Duration PollBound(bool announced) {
  const Duration longest = Milliseconds(10'001) + Milliseconds(21);
  return longest * (announced ? 7 : 70) / 100 + kRoundTrips;
}

TEST(PromptHandoverTest, ALockThatNobodyTakesIsAViolation) {
  for (const bool announced : {false, true}) {
    SCOPED_TRACE(announced);
    Row1 row(announced);
    row.Leads().IsStopped(Seconds(3)).At(Seconds(4)).Writes(kRelease);
    const Duration bound = PollBound(announced);
    Row1 in_time(announced);
    in_time.Leads().IsStopped(Seconds(3)).At(Seconds(4)).Writes(kRelease);
    in_time.At(Seconds(4) + bound - Milliseconds(10)).Writes(kTake, "b");
    ExpectHolds(in_time.AtEnd(), kHandover);
    const CheckReport report = row.AtEnd();
    ASSERT_TRUE(report[kHandover].first);
    EXPECT_NEAR(
        static_cast<double>((report[kHandover].first->at - InstantOf(Seconds(4) + bound)).ns), 0.0,
        10e6);
    EXPECT_EQ(report[kHandover].violations, 1);
  }
}

TEST(PromptHandoverTest, WithoutAnotherProcessNobodyHasToTakeIt) {
  Row1 row;
  row.Leads().At(Seconds(2)).trace.Stops("b").EndsParticipation("b");
  row.IsStopped(Seconds(3)).At(Seconds(4)).Writes(kRelease);
  ExpectHolds(row.AtEnd(), kHandover);
}

TEST(PromptHandoverTest, WhatAnOperatorReleasesIsNotGivenBack) {
  Row1 row;
  row.Leads().At(Seconds(3)).OperatorReleases();
  ExpectHolds(row.AtEnd(), kHandover);
}

TEST(PromptHandoverTest, AProtocolThatNeverGivesBackIsNotJudged) {
  EXPECT_EQ(WordOf(Trace{"a"}.EndsAt(Seconds(1))[kHandover].verdict), "n/a");
}

}  // namespace
}  // namespace whorl::sim::checkers_handover_test
