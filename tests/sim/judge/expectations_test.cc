// A scenario's verdict: what its author wrote into `expect`, and nothing looser. A judge that lets
// one kind of failure pass makes every green line worthless, so each kind is seen to fail here.

#include "sim/judge/expectations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/judge/run.h"
#include "tests/sim/judge/checkers_testing.h"

namespace whorl::sim::expectations_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ExpectationsTest : public testing::Test {
 protected:
  ExpectationsTest() : scenario_(MakeScenario({"a", "b"})) {
    scenario_.path = "x/crafted.json";
    for (const Invariant invariant : whorl::AllOf<Invariant>()) {
      result_.checks.invariants.push_back({.invariant = invariant});
    }
  }

  InvariantResult& Of(Invariant invariant) {
    return result_.checks.invariants[static_cast<size_t>(invariant)];
  }
  void Violate(Invariant invariant, uint64_t observation = 5) {
    Of(invariant).verdict = Verdict::kViolated;
    Of(invariant).violations = 2;
    Of(invariant).first = Violation{.observation = observation, .text = "why"};
  }
  std::vector<std::string> Failures() const { return FailuresOf(scenario_, result_); }

  Scenario scenario_;
  RunResult result_;
};

// A waypoint says where it stands and what came before it, so that an author sees how far the run got.
TEST_F(ExpectationsTest, AWaypointThatIsNotReachedFails) {
  const StepPhase insert = {.step = *FindStep("takeover_insert"), .phase = Phase::kReplied};
  scenario_.expect.reach = {
      {.what = insert, .line = 7},
      {.node = Waypoint::kOldLeader, .what = ProcessEvent::kResumed, .line = 8}};
  result_.reached = 1;
  EXPECT_THAT(
      Failures(),
      ElementsAre("the waypoint at x/crafted.json:8 (\"old leader resumed\") was not reached "
                  "after \"takeover_insert replied\": 1 of 2 waypoints"));
  result_.reached = 2;
  EXPECT_THAT(Failures(), IsEmpty());
}

// The ordinary case: what was expected came, and there is nothing to say.
TEST_F(ExpectationsTest, NothingFailsWhenAllIsAsExpected) {
  scenario_.expect = {
      .holds = {Invariant::kOneLiveToken},
      .violates = {Invariant::kLeaseRespected},
      .sometimes = {Sometimes::kTakeover},
      .metrics = {{.metric = Metric::kGrants, .min = 2, .max = 2}},
      .takeover_within = Seconds(12),
  };
  Violate(Invariant::kLeaseRespected);
  result_.checks.metrics[Sometimes::kTakeover] = 1;
  result_.checks.metrics[Metric::kGrants] = 2;
  result_.checks.metrics[Metric::kWithoutHolderMax] = Seconds(12).ns;
  EXPECT_THAT(Failures(), IsEmpty());
}

// The promise that a scenario is about.
TEST_F(ExpectationsTest, FailsWhenWhatShouldHoldIsViolated) {
  scenario_.expect.holds = {Invariant::kOneLiveToken};
  Violate(Invariant::kOneLiveToken);
  EXPECT_THAT(Failures(),
              ElementsAre("expected one_live_token to hold, but it was violated 2 times"));
}

// A checker that gave up has proved nothing, and neither has one with nothing to check.
TEST_F(ExpectationsTest, UnknownIsNeverGreen) {
  scenario_.expect.holds = {Invariant::kOneLiveToken, Invariant::kTokenMonotonic};
  scenario_.expect.violates = {Invariant::kNoWedge};
  Of(Invariant::kOneLiveToken).verdict = Verdict::kNotApplicable;
  Of(Invariant::kTokenMonotonic).verdict = Verdict::kUnknown;
  Of(Invariant::kTokenMonotonic).unknown_because = "it ended too early";
  Of(Invariant::kNoWedge).verdict = Verdict::kUnknown;
  EXPECT_THAT(Failures(),
              ElementsAre(HasSubstr("expected one_live_token to hold, but it is n/a"),
                          "expected token_monotonic to hold, but it is unknown: it ended too early",
                          HasSubstr("expected no_wedge to be violated, but it is unknown")));
}

// A finding that no longer shows is news: the protocol or the model has changed.
TEST_F(ExpectationsTest, FailsWhenAnExpectedViolationDoesNotCome) {
  scenario_.expect.violates = {Invariant::kNoWedge};
  EXPECT_THAT(Failures(), ElementsAre("expected no_wedge to be violated, but it held"));
}

// An author who lists what breaks has said that nothing else does.
TEST_F(ExpectationsTest, FailsOnAViolationThatIsNotListed) {
  Violate(Invariant::kIsolation);
  EXPECT_THAT(Failures(),
              ElementsAre("isolation was violated 2 times, and `violates` does not list it"));
}

// A scenario that never got to its point proves nothing, however green.
TEST_F(ExpectationsTest, FailsWhenASometimesWasNotMet) {
  scenario_.expect.sometimes = {Sometimes::kStaleWriteRefused};
  EXPECT_THAT(Failures(),
              ElementsAre("expected stale_write_refused at least once, but it never happened"));
}

// Bounds include their ends; times are said with a unit.
TEST_F(ExpectationsTest, FailsWhenAMetricIsOutsideItsBounds) {
  scenario_.expect.metrics = {
      {.metric = Metric::kGrants, .min = 3},
      {.metric = Metric::kTakeovers, .max = 0},
      {.metric = Metric::kBeliefOverlapMax, .max = Milliseconds(1'500).ns},
  };
  result_.checks.metrics[Metric::kGrants] = 2;
  result_.checks.metrics[Metric::kTakeovers] = 1'000;
  result_.checks.metrics[Metric::kBeliefOverlapMax] = Milliseconds(1'500).ns + 1;
  EXPECT_THAT(Failures(),
              ElementsAre("expected grants of at least 3, but it was 2",
                          "expected takeovers of at most 0, but it was 1,000",
                          AllOf(HasSubstr("expected belief_overlap_max of at most 1.5s"),
                                HasSubstr("but it was 1.500000001s"))));
}

// The bound on recovery that an operator chooses a lease by.
TEST_F(ExpectationsTest, FailsWhenATakeoverTookTooLong) {
  scenario_.expect.takeover_within = Seconds(12);
  result_.checks.metrics[Metric::kWithoutHolderMax] = Seconds(13).ns;
  EXPECT_THAT(Failures(),
              ElementsAre("expected each takeover within 12s, but nobody held the lock for 13s "
                          "(without_holder_max)"));
}

// A fault that did not strike tested nothing; its line is where to look.
TEST_F(ExpectationsTest, FailsWhenAFaultNeverStruckAndNamesItsLine) {
  scenario_.faults = {{.node = 0, .what = PauseFault{}, .line = 11},
                      {.node = 1, .what = CrashFault{}, .line = 12}};
  result_.unfired_faults = {1};
  EXPECT_THAT(Failures(), ElementsAre("the fault at x/crafted.json:12 (crash of b) never struck"));
}

// The first thing to read is the violation that nobody expected, not the one that was announced.
TEST_F(ExpectationsTest, TheFirstViolationIsTheEarliestUnexpectedOne) {
  EXPECT_EQ(FirstViolation(scenario_, result_), nullptr);
  scenario_.expect.violates = {Invariant::kLeaseRespected};
  Violate(Invariant::kLeaseRespected, 1);
  EXPECT_EQ(FirstViolation(scenario_, result_)->invariant, Invariant::kLeaseRespected);
  Violate(Invariant::kIsolation, 9);
  Violate(Invariant::kNoWedge, 8);
  EXPECT_EQ(FirstViolation(scenario_, result_)->invariant, Invariant::kNoWedge);
}

}  // namespace
}  // namespace whorl::sim::expectations_test
