// When a promise is void, and from when it counts again.
#include "protocol/fenced_lease/words.h"
#include "tests/sim/judge/checkers_testing.h"

namespace whorl::sim::promise_clock_test {
namespace {

constexpr Invariant kTruthful = Invariant::kHasLockTruthful;
constexpr Invariant kBelief = Invariant::kSingleLeaderBelief;
constexpr Duration kLease = Seconds(10);
// A lease by the slowest clock, as a peer with the fastest one measures it, is less than that.
constexpr Duration kLongest = Milliseconds(10'030);

Scenario FencedLease(std::vector<FaultSpec> faults) {
  Scenario scenario = MakeScenario({"a", "b"});
  scenario.protocol = "fenced_lease";
  for (NodeSpec& node : scenario.nodes) node.lease = kLease;
  scenario.faults = std::move(faults);
  return scenario;
}

// (name, heartbeat, token, writer, lease_ms, attempt)
Row RowAt(Duration heartbeat) {
  return {std::string("lock"), Stamp(heartbeat), Stamp(Seconds(1)),
          std::string("a"),    int64_t{10'000},  std::string("attempt")};
}
Row EmptyRow() { return {std::string("lock"), Null{}, Null{}, Null{}, Null{}, Null{}}; }

class Locks {
 public:
  explicit Locks(Scenario scenario) : trace_(std::move(scenario)), row_(trace_) {
    trace_.At(Seconds(1)).Starts("a").Starts("b");
    row_.At(Seconds(1))
        .Commits(trace_.Process("a"), fenced_lease::steps::kCreate, RowAt(Seconds(1)));
    trace_.Knows("a", Seconds(1), true, true).Believes("a");
  }
  Trace& At(Duration time) {
    row_.At(time);
    return trace_;
  }
  void OperatorWrites(Duration time, std::optional<Row> after) {
    row_.At(time).Commits(ProcessId{}, StepName(), std::move(after));
  }

 private:
  Trace trace_;
  OneRow row_;
};

Scenario Deleting() {
  return FencedLease({{.node = FaultSpec::kNoNode, .what = DeleteRowFault{}}});
}

TEST(PromiseClockTest, APromiseIsVoidUntilTheLongestLeaseHasPassed) {
  Locks locks(Deleting());
  locks.OperatorWrites(Seconds(20), std::nullopt);
  locks.At(Seconds(20) + kLease).IsAnsweredYes("a", Seconds(21));
  const CheckReport report = locks.At(Seconds(40)).EndsAt(Seconds(40));
  EXPECT_EQ(report[kTruthful].violations, 1);
  EXPECT_EQ(WordOf(report[kTruthful].promise), "not_promised");
  ASSERT_EQ(report[kTruthful].not_promised.size(), 1U);
  EXPECT_GE(report[kTruthful].not_promised[0].time, kLease);
  EXPECT_LE(report[kTruthful].not_promised[0].time, kLongest);
}

TEST(PromiseClockTest, AndIsBrokenAfterThat) {
  Locks locks(Deleting());
  locks.OperatorWrites(Seconds(20), std::nullopt);
  locks.At(Seconds(21)).IsAnsweredYes("a", Seconds(21));
  locks.At(Seconds(20) + kLongest).IsAnsweredYes("a", Seconds(30));
  const CheckReport report = locks.At(Seconds(40)).EndsAt(Seconds(40));
  EXPECT_EQ(report[kTruthful].violations, 2);
  EXPECT_EQ(WordOf(report[kTruthful].promise), "promised");
  ExpectViolated(report, kTruthful, Seconds(20) + kLongest);
}

TEST(PromiseClockTest, AndIsBrokenBefore) {
  Locks locks(Deleting());
  locks.At(Seconds(10)).IsAnsweredYes("b", Seconds(9));
  locks.OperatorWrites(Seconds(20), std::nullopt);
  const CheckReport report = locks.At(Seconds(40)).EndsAt(Seconds(40));
  EXPECT_EQ(WordOf(report[kTruthful].promise), "promised");
}

TEST(PromiseClockTest, AClockThatStandsVoidsAPromiseForAsLongAsItStands) {
  Locks locks(FencedLease({{.node = 0, .what = ClockFault{.stands = true}}}));
  locks.At(Seconds(5)).Happens(ClockChanged{.node = 0, .stands = true});
  locks.At(Seconds(100)).Believes("b");
  locks.At(Seconds(100)).Believes("b", false).Happens(ClockChanged{.node = 0});
  locks.At(Seconds(100) + kLease).Believes("b").Believes("b", false);
  CheckReport report = locks.At(Seconds(101)).judge().Finish({Seconds(111).ns});
  EXPECT_EQ(report[kBelief].violations, 2);
  EXPECT_EQ(WordOf(report[kBelief].promise), "not_promised");
  locks.At(Seconds(100) + kLongest).Believes("b");
  report = locks.At(Seconds(120)).EndsAt(Seconds(120));
  EXPECT_EQ(WordOf(report[kBelief].promise), "promised");
  ExpectViolated(report, kBelief, Seconds(100) + kLongest);
}

TEST(PromiseClockTest, AnEmptiedRowStopsTheClockOfNoWedgeUntilItIsMended) {
  const auto wedge = [](Duration mended, Duration end) {
    Locks locks(FencedLease({{.node = FaultSpec::kNoNode, .what = EmptyRowFault{}}}));
    locks.At(Seconds(10)).Knows("a", std::nullopt, false).Believes("a", false);
    locks.OperatorWrites(Seconds(10), EmptyRow());
    locks.OperatorWrites(mended, std::nullopt);
    return locks.At(end).EndsAt(end)[Invariant::kNoWedge];
  };
  const Duration bound = RulesOf("fenced_lease").wedge_bound(kLease, Trace::kRoundTrip);
  const InvariantResult soon = wedge(Seconds(12), Seconds(12) + bound);
  EXPECT_EQ(WordOf(soon.promise), "promised");
  ASSERT_TRUE(soon.first);
  EXPECT_EQ(soon.first->at, InstantOf(Seconds(12) + bound));
  const InvariantResult later = wedge(Seconds(1000), Seconds(1001));
  EXPECT_EQ(WordOf(later.promise), "not_promised") << "it was wedged because the row was empty";
  const InvariantResult at_last = wedge(Seconds(1000), Seconds(1000) + bound);
  EXPECT_EQ(WordOf(at_last.promise), "promised");
}

TEST(PromiseClockTest, ALeaseIsCutByNoMoreThanTheErrorOfCurrentTimestamp) {
  const auto cut = [](Duration by) {
    Scenario scenario = MakeScenario({"a", "b"});
    scenario.protocol = "spindle_v3";
    for (NodeSpec& node : scenario.nodes) node.lease = kLease;
    scenario.spanner.current_timestamp_error = Milliseconds(80);
    Trace trace(scenario);
    trace.At(Seconds(1)).Starts("a").Starts("b");
    OneRow(trace).At(Seconds(1)).Acquires("a").At(Seconds(1) + kLease - by).Acquires("b");
    return trace.EndsAt(Seconds(20))[Invariant::kLeaseRespected];
  };
  EXPECT_EQ(WordOf(cut(Milliseconds(80)).promise), "not_promised");
  EXPECT_EQ(cut(Milliseconds(80)).violations, 1);
  EXPECT_EQ(WordOf(cut(Milliseconds(81)).promise), "promised");
}

TEST(PromiseClockTest, ALeaseIsCutByNoMoreThanTheLeasesDiffer) {
  const auto cut = [](Duration by) {
    Scenario scenario = MakeScenario({"a", "b"});
    scenario.protocol = "spindle_v3";
    scenario.nodes[0].lease = kLease;
    scenario.nodes[1].lease = Seconds(7);
    Trace trace(scenario);
    trace.At(Seconds(1)).Starts("a").Starts("b");
    OneRow(trace).At(Seconds(1)).Acquires("a").At(Seconds(1) + kLease - by).Acquires("b");
    return trace.EndsAt(Seconds(20))[Invariant::kLeaseRespected];
  };
  EXPECT_EQ(WordOf(cut(Seconds(3)).promise), "not_promised");
  EXPECT_EQ(WordOf(cut(Milliseconds(3'001)).promise), "promised");
}

}  // namespace
}  // namespace whorl::sim::promise_clock_test
