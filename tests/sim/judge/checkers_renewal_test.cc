// Checkers on crafted traces of a protocol whose heartbeats replace the token and whose owner
// releases the lock by deleting its row (spindle v3).
#include "protocol/protocols.h"
#include "protocol/spindle_v3/spindle_v3.h"
#include "protocol/spindle_v3/words.h"
#include "sim/scenario/rules.h"
#include "tests/sim/judge/checkers_testing.h"

namespace whorl::sim::checkers_renewal_test {
namespace {

Scenario ScenarioOfV3() {
  Scenario scenario = MakeScenario({"a", "b"});
  scenario.protocol = "spindle_v3";
  return scenario;
}

// a takes the lock at 1 s and knows so.
struct HeldByA {
  HeldByA() : trace(ScenarioOfV3()), table(trace) {
    trace.Starts("a").Starts("b");
    table.At(Seconds(1)).Acquires("a");
    trace.Knows("a", Seconds(1), true, true);
  }
  Trace trace;
  OneRow table;
};

TEST(RenewalTest, AHeartbeatsTokenIsNoGrantAndTakingTheLockAgainIsOne) {
  // `grants` shows finding V3: there are two, although no other process ever had the lock.
  HeldByA held;
  held.table.At(Seconds(5)).Beats("a");
  held.table.At(Seconds(9)).Beats("a");
  held.table.At(Seconds(12)).Acquires("a");
  const Metrics metrics = held.trace.EndsAt(Seconds(13)).metrics;
  EXPECT_EQ(metrics[Metric::kGrants], 2);
  EXPECT_EQ(metrics[Metric::kTakeovers], 0);
}

TEST(RenewalTest, AHeartbeatOfAnotherThanTheOwnerWouldBeAGrant) {
  // The step alone does not make it a renewal: whose token it replaced does.
  HeldByA held;
  held.table.At(Seconds(5)).Beats("b");
  const CheckReport report = held.trace.EndsAt(Seconds(6));
  EXPECT_EQ(report.metrics[Metric::kGrants], 2);
  EXPECT_EQ(report.metrics[Metric::kTakeovers], 1);
  ExpectViolated(report, Invariant::kLeaseRespected, Seconds(5));
}

TEST(RenewalTest, InTheTimeUntilItHearsOfItsHeartbeatTheOwnerStillHolds) {
  // Spanner has the new token and the leader the old one. The lock still has a holder.
  HeldByA held;
  held.table.At(Seconds(5)).Beats("a");
  held.trace.At(Seconds(6)).Knows("a", Seconds(5), true, true);
  EXPECT_EQ(held.trace.EndsAt(Seconds(9)).metrics[Metric::kWithoutHolderSum], Seconds(1).ns);
}

TEST(RenewalTest, AnOwnerThatDoesNotKnowItsNewestTokenIsCountedOutWhenAnotherTakesOver) {
  // After the lost reply of V3 comes a takeover: a's old token belongs to no version, and b has not
  // heard of its success yet.
  HeldByA held;
  held.table.At(Seconds(5)).Beats("a");
  held.table.At(Seconds(20)).Acquires("b");
  held.trace.At(Seconds(22)).Knows("b", Seconds(20), true, true);
  EXPECT_EQ(held.trace.EndsAt(Seconds(30)).metrics[Metric::kWithoutHolderSum], Seconds(3).ns);
}

TEST(RenewalTest, ALeaderThatSteppedDownHoldsNothingThoughTheRowIsItsOwn) {
  // It would be answered "no".
  HeldByA held;
  held.table.At(Seconds(5)).Beats("a");
  held.trace.At(Seconds(6)).Knows("a", Seconds(1), false, false);
  EXPECT_EQ(held.trace.EndsAt(Seconds(10)).metrics[Metric::kWithoutHolderSum], Seconds(5).ns);
}

TEST(RenewalTest, TheLeaseCountsFromTheNewestHeartbeat) {
  // To the nanosecond.
  for (const Duration early : {Nanoseconds(1), Duration{}}) {
    HeldByA held;
    held.table.At(Seconds(5)).Beats("a");
    held.table.At(Seconds(15) - early).Acquires("b");
    const CheckReport report = held.trace.EndsAt(Seconds(16));
    EXPECT_EQ(report[Invariant::kLeaseRespected].violations, early.ns);
    EXPECT_EQ(report.metrics[Metric::kNeedlessTakeovers], early.ns);
  }
}

TEST(RenewalTest, CatchesAHeartbeatThatWritesAnOlderToken) {
  // A renewal commits a token like any grant.
  HeldByA held;
  held.table.At(Seconds(5)).Writes("a", spindle_v3::steps::kHeartbeat, Milliseconds(900));
  ExpectViolated(held.trace.EndsAt(Seconds(6)), Invariant::kTokenMonotonic, Seconds(5));
}

TEST(RenewalTest, CatchesTwoProcessesThatKeepTheTokenOfAHeartbeat) {
  // A renewal makes a token live like any grant.
  HeldByA held;
  held.trace.Knows("b", Seconds(5));
  held.trace.At(Seconds(2)).Knows("a", Seconds(5));
  held.table.At(Seconds(5)).Beats("a");
  ExpectViolated(held.trace.EndsAt(Seconds(6)), Invariant::kOneLiveToken, Seconds(5));
}

TEST(RenewalTest, ARowThatItsOwnerDeletesIsGivenBack) {
  // The next owner takes no live lease, but takes over, and needs a greater token.
  HeldByA held;
  held.table.At(Seconds(2)).Releases("a");
  held.table.At(Seconds(3)).Acquires("b");
  const CheckReport report = held.trace.EndsAt(Seconds(4));
  EXPECT_EQ(report.metrics[Sometimes::kRelease], 1);
  EXPECT_EQ(report.metrics[Metric::kTakeovers], 1);
  ExpectHolds(report, Invariant::kLeaseRespected);
  ExpectHolds(report, Invariant::kTokenMonotonic);
}

TEST(RenewalTest, ARowThatAnotherProcessDeletesIsNotGivenBack) {
  // An operator, or another process by mistake; the latter takes a live lease.
  for (const bool by_b : {false, true}) {
    HeldByA held;
    const ProcessId writer = by_b ? held.trace.Process("b") : ProcessId{};
    held.table.At(Seconds(2)).Commits(writer, spindle_v3::steps::kRelease, std::nullopt);
    const CheckReport report = held.trace.EndsAt(Seconds(3));
    EXPECT_EQ(report.metrics[Sometimes::kRelease], 0);
    EXPECT_EQ(report[Invariant::kLeaseRespected].violations, by_b ? 1 : 0);
  }
}

TEST(RenewalTest, ATokenOlderThanThatOfADeletedRowIsCaught) {
  // Deleting a row and inserting it again must not make tokens small again.
  HeldByA held;
  held.table.At(Seconds(5)).Beats("a");
  held.table.At(Seconds(6)).Releases("a");
  held.table.At(Seconds(7)).Writes("b", spindle_v3::steps::kAcquire, Seconds(4));
  ExpectViolated(held.trace.EndsAt(Seconds(8)), Invariant::kTokenMonotonic, Seconds(7));
}

TEST(RulesTest, SpindleV3sColumnsStandWhereItsTableSays) {
  // Rules are written beside the protocol; the table is what both mean.
  const Rules& rules = RulesOf("spindle_v3");
  const ProtocolInfo& info = *FindProtocol("spindle_v3");
  EXPECT_EQ(info.columns[rules.key_column].name, "name");
  EXPECT_EQ(info.columns[rules.token_column.value()].name, "token");
  const Row row = {std::string("lock"), Stamp(Seconds(5)), std::string("a")};
  EXPECT_EQ(rules.lease_until(row, Seconds(10)), Stamp(Seconds(15)));
  EXPECT_EQ(rules.lease_until({std::string("lock"), Null{}, Null{}}, Seconds(10)), std::nullopt);
  EXPECT_FALSE(rules.is_released(row));
  EXPECT_FALSE(rules.is_side_row("job", "job_1"));
}

TEST(RulesTest, SpindleV3sLeaseIsTheOneThatTheProtocolUses) {
  // Two texts of one rule: whole seconds, at least five.
  for (const Duration asked : {Milliseconds(1), Milliseconds(4'999), Seconds(5),
                               Milliseconds(7'999), Seconds(10), Seconds(0)}) {
    EXPECT_EQ(RulesOf("spindle_v3").lease_used(asked),
              spindle_v3::MakeConfig("locktable", "lock", "id", asked).lease);
  }
}

TEST(RulesTest, SpindleV3sWedgeBoundIsALeaseAndAllThatMayBeAddedToIt) {
  // L + L/7 + L/3 + 4 round trips.
  EXPECT_EQ(RulesOf("spindle_v3").wedge_bound(Seconds(21), Milliseconds(50)),
            Seconds(31) + Milliseconds(200));
}

}  // namespace
}  // namespace whorl::sim::checkers_renewal_test
