// told_of_leadership on crafted traces: what the application was told, compared with what its process believes.
#include <string>

#include "tests/sim/judge/checkers_testing.h"

namespace whorl::sim::checkers_told_test {
namespace {

constexpr Invariant kTold = Invariant::kToldOfLeadership;

Scenario Of(const std::string& protocol, Use use = Use::kCallback) {
  Scenario scenario = MakeScenario({"a", "b"});
  scenario.protocol = protocol;
  for (NodeSpec& node : scenario.nodes) node.use = use;
  return scenario;
}

// a is up, and it is what is told.
struct Told {
  explicit Told(const std::string& protocol = "fenced_lease", Use use = Use::kCallback)
      : trace(Of(protocol, use)) {
    trace.At(Seconds(1)).Starts("a").Starts("b");
  }
  Told& At(Duration at) {
    trace.At(at);
    return *this;
  }
  Told& IsTold(bool leader, const std::string& node = "a") {
    trace.Happens(CalledBack{.process = trace.Process(node), .lock = 0, .leader = leader});
    return *this;
  }
  // Believes, and is told so.
  Told& Leads(Duration from) {
    trace.At(from).Believes("a");
    return IsTold(true);
  }

  Trace trace;
};

TEST(ToldOfLeadershipTest, APairOfCallbacksHolds) {
  Told told;
  told.Leads(Seconds(2)).At(Seconds(9)).trace.Believes("a", false);
  told.At(Seconds(9) + Milliseconds(10)).IsTold(false);
  ExpectHolds(told.trace.EndsAt(Seconds(30)), kTold);
}

TEST(ToldOfLeadershipTest, ALossThatIsNotToldInTimeIsAViolation) {
  Told told;
  told.Leads(Seconds(2)).At(Seconds(9)).trace.Believes("a", false);
  told.At(Seconds(9) + Milliseconds(11)).IsTold(false);
  ExpectViolated(told.trace.EndsAt(Seconds(30)), kTold, Seconds(9) + Milliseconds(10), 0,
                 {"a was not told that it no longer leads lock \"lock\""});
}

// Silence until the end of the run is judged, too, and counted once.
TEST(ToldOfLeadershipTest, ALossThatIsNeverToldIsOneViolation) {
  Told told;
  told.Leads(Seconds(2)).At(Seconds(9)).trace.Believes("a", false);
  const CheckReport report = told.trace.EndsAt(Seconds(30));
  EXPECT_EQ(report[kTold].violations, 1);
  ExpectViolated(report, kTold, Seconds(9) + Milliseconds(10));
}

TEST(ToldOfLeadershipTest, ABeginningThatIsNotToldIsAViolation) {
  Told told;
  told.trace.At(Seconds(2)).Believes("a");
  ExpectViolated(told.trace.EndsAt(Seconds(30)), kTold, Seconds(2) + Milliseconds(10), 0,
                 {"a was not told that it leads"});
}

TEST(ToldOfLeadershipTest, ABeginningThatIsToldBeforeBeliefIsAViolation) {
  Told told;
  told.At(Seconds(2)).IsTold(true);
  told.trace.Believes("a");
  const CheckReport report = told.trace.EndsAt(Seconds(30));
  EXPECT_EQ(report[kTold].violations, 1);
  ExpectViolated(report, kTold, Seconds(2), 0, {"which its process does not believe"});
}

TEST(ToldOfLeadershipTest, ACallbackThatRepeatsTheLastOneSaysNothing) {
  Told told;
  told.At(Seconds(1)).IsTold(false).Leads(Seconds(2)).At(Seconds(3)).IsTold(true);
  ExpectHolds(told.trace.EndsAt(Seconds(30)), kTold);
}

TEST(ToldOfLeadershipTest, APausedProcessIsToldWhenItGoesOn) {
  for (const bool in_time : {true, false}) {
    SCOPED_TRACE(in_time);
    Told told;
    told.Leads(Seconds(2)).At(Seconds(3)).trace.Pauses("a");
    told.trace.At(Seconds(9)).Believes("a", false);
    told.trace.At(Seconds(20)).Resumes("a");
    told.At(Seconds(20) + Milliseconds(in_time ? 10 : 11)).IsTold(false);
    const CheckReport report = told.trace.EndsAt(Seconds(30));
    if (in_time) {
      ExpectHolds(report, kTold);
    } else {
      ExpectViolated(report, kTold, Seconds(20) + Milliseconds(10));
    }
  }
}

TEST(ToldOfLeadershipTest, AProcessThatIsGoneIsNeverTold) {
  Told told;
  told.Leads(Seconds(2)).At(Seconds(9)).trace.Believes("a", false).Crashes("a");
  told.trace.At(Seconds(10)).Starts("a");
  ExpectHolds(told.trace.EndsAt(Seconds(30)), kTold);
}

// What the application asked for itself, protocols tell at once, when they have released, or not at all.
TEST(ToldOfLeadershipTest, AStopIsToldAsTheProtocolSays) {
  struct Stop {
    std::string protocol;
    Duration told_after;
    bool holds;
  };
  for (const Stop& stop :
       {Stop{"fenced_lease", Milliseconds(10), true}, Stop{"fenced_lease", Milliseconds(11), false},
        Stop{"spindle_v3", Milliseconds(35'510), true},
        Stop{"spindle_v3", Milliseconds(35'511), false}, Stop{"spindle_v2", Seconds(20), true}}) {
    SCOPED_TRACE(stop.protocol);
    Told told(stop.protocol);
    told.Leads(Seconds(2)).At(Seconds(5)).trace.Stops("a").Believes("a", false);
    told.trace.EndsParticipation("a");
    told.At(Seconds(5) + stop.told_after).IsTold(false);
    const CheckReport report = told.trace.EndsAt(Seconds(60));
    EXPECT_EQ(WordOf(report[kTold].verdict), stop.holds ? "holds" : "violated");
  }
}

TEST(ToldOfLeadershipTest, AUserOfLockIsNotCalledBack) {
  Told told("spindle_v2", Use::kLock);
  told.At(Seconds(2)).IsTold(true);
  told.trace.At(Seconds(3)).Believes("a");
  ExpectHolds(told.trace.EndsAt(Seconds(30)), kTold);
}

TEST(ToldOfLeadershipTest, ARealProcessMayBeLate) {
  Trace trace(Of("fenced_lease"));
  RunJudge judge(trace.scenario(), Trace::kRoundTrip);
  judge.AllowHostDelay(Seconds(1));
  trace.At(Seconds(1)).Starts("a").At(Seconds(2)).Believes("a");
  trace.At(Seconds(3))
      .Happens(CalledBack{.process = trace.Process("a"), .lock = 0, .leader = true});
  for (const Observation& observation : trace.observations()) judge.Observe(observation);
  ExpectHolds(judge.Finish(InstantOf(Seconds(9))), kTold);
  ExpectViolated(trace.EndsAt(Seconds(9)), kTold, Seconds(2) + Milliseconds(10));
}

}  // namespace
}  // namespace whorl::sim::checkers_told_test
