// Checkers on crafted traces of protocols without tokens (semaphore, lease_lock): which process
// owns a row, what is a grant, when the lease ends, and that invariants about tokens do not apply.
#include "protocol/lease_lock/lease_lock.h"
#include "protocol/lease_lock/words.h"
#include "protocol/protocols.h"
#include "protocol/semaphore/semaphore.h"
#include "protocol/semaphore/words.h"
#include "protocol/spindle_v2/words.h"
#include "sim/scenario/rules.h"
#include "tests/sim/judge/checkers_testing.h"

namespace whorl::sim::checkers_tokenless_test {
namespace {

Scenario ScenarioFor(std::string_view protocol) {
  Scenario scenario = MakeScenario({"a", "b"});
  scenario.protocol = protocol;
  return scenario;
}

// Nodes a and b are up.
struct Table : OneRow {
  explicit Table(std::string_view protocol) : OneRow(trace), trace(ScenarioFor(protocol)) {
    trace.Starts("a").Starts("b");
  }
  Trace trace;
};

TEST(TokenlessTest, WhoeverWritesTheOwnerIsTheOwner) {
  Table table("semaphore");
  table.Commits({}, spindle_v2::steps::kCheck, semaphore::InitRow());
  EXPECT_EQ(table.trace.judge().ledger().OwnerOf(0), ProcessId{});
  table.At(Seconds(1)).Updates("a", "a");
  EXPECT_EQ(table.trace.judge().ledger().OwnerOf(0), table.trace.Process("a"));
  table.At(Seconds(2)).Updates("b", "a");
  EXPECT_EQ(table.trace.judge().ledger().OwnerOf(0), table.trace.Process("b"))
      << "under the same id, and yet another process";
}

TEST(TokenlessTest, AnOwnersUpdatesAreRenewalsAndAnothersAreTakeovers) {
  Table table("semaphore");
  table.Commits({}, spindle_v2::steps::kCheck, semaphore::InitRow());
  table.At(Seconds(1)).Updates("a", "a");
  table.At(Seconds(2)).Updates("a", "a");
  table.At(Seconds(3)).Updates("a", "a");
  table.At(Seconds(20)).Updates("b", "b");
  const CheckReport report = table.trace.EndsAt(Seconds(21));
  EXPECT_EQ(report.metrics[Metric::kGrants], 2);
  EXPECT_EQ(report.metrics[Metric::kTakeovers], 1);
  ExpectHolds(report, Invariant::kLeaseRespected);
}

TEST(TokenlessTest, AReacquireIsAGrantAndAHeartbeatIsNone) {
  Table table("lease_lock");
  table.At(Seconds(1)).Leases("a", lease_lock::steps::kAcquire, "a");
  table.At(Seconds(4)).Leases("a", lease_lock::steps::kHeartbeat, "a");
  table.At(Seconds(7)).Leases("a", lease_lock::steps::kAcquire, "a");
  const Metrics metrics = table.trace.EndsAt(Seconds(8)).metrics;
  EXPECT_EQ(metrics[Metric::kGrants], 2);
  EXPECT_EQ(metrics[Metric::kTakeovers], 0);
}

TEST(TokenlessTest, TakingALiveLeaseIsAViolation) {
  // At its end, and not before.
  for (const bool early : {true, false}) {
    Table table("lease_lock");
    table.At(Seconds(1)).Leases("a", lease_lock::steps::kAcquire, "a");
    table.At(Seconds(4)).Leases("a", lease_lock::steps::kHeartbeat, "a");
    table.At(Seconds(14) - Nanoseconds(early ? 1 : 0))
        .Leases("b", lease_lock::steps::kAcquire, "b");
    const CheckReport report = table.trace.EndsAt(Seconds(15));
    if (early) {
      ExpectViolated(report, Invariant::kLeaseRespected, Seconds(14) - Nanoseconds(1), 0,
                     {"b took lock \"lock\" from a"});
    } else {
      ExpectHolds(report, Invariant::kLeaseRespected);
    }
  }
}

TEST(TokenlessTest, ReleasingAnothersLiveLeaseIsAViolationAndOnesOwnIsARelease) {
  // Finding L2 of lease_lock.
  Table another("lease_lock");
  another.At(Seconds(1)).Leases("a", lease_lock::steps::kAcquire, "a");
  another.At(Seconds(4)).Releases("b");
  const CheckReport report = another.trace.EndsAt(Seconds(5));
  ExpectViolated(report, Invariant::kLeaseRespected, Seconds(4), 0, {"b removed lock \"lock\""});
  EXPECT_EQ(report.metrics[Sometimes::kRelease], 0);
  Table own("lease_lock");
  own.At(Seconds(1)).Leases("a", lease_lock::steps::kAcquire, "a");
  own.At(Seconds(4)).Releases("a");
  own.At(Seconds(5)).Leases("b", lease_lock::steps::kAcquire, "b");
  const CheckReport released = own.trace.EndsAt(Seconds(6));
  ExpectHolds(released, Invariant::kLeaseRespected);
  EXPECT_EQ(released.metrics[Sometimes::kRelease], 1);
  EXPECT_EQ(released.metrics[Metric::kTakeovers], 1);
}

TEST(TokenlessTest, OneIdOfTwoProcessesIsNoExcuse) {
  Table table("semaphore");
  table.At(Seconds(1)).Updates("a", "x");
  table.At(Seconds(2)).Updates("b", "x");
  const CheckReport report = table.trace.EndsAt(Seconds(3));
  ExpectViolated(report, Invariant::kLeaseRespected, Seconds(2));
  EXPECT_EQ(report.metrics[Metric::kNeedlessTakeovers], 1);
}

TEST(TokenlessTest, TheOwnerIsAnsweredWithoutAnyToken) {
  Table table("semaphore");
  table.At(Seconds(1)).Updates("a", "a");
  EXPECT_EQ(table.trace.judge().ledger().AnsweredCount(0), 0) << "it has not said so";
  table.trace.Knows("a", std::nullopt, /*answers=*/true);
  table.trace.Knows("b", std::nullopt, /*answers=*/true);
  EXPECT_EQ(table.trace.judge().ledger().AnsweredCount(0), 1);
  table.At(Seconds(9)).Updates("b", "b");
  EXPECT_EQ(table.trace.judge().ledger().AnsweredCount(0), 1);
}

TEST(TokenlessTest, WhoIsToldYesHasToBeTheOwner) {
  Table table("semaphore");
  table.At(Seconds(1)).Updates("a", "x");
  table.trace.IsAnsweredYes("a", Seconds(1));
  ExpectHolds(table.trace.judge().Finish({Seconds(1).ns}), Invariant::kHasLockTruthful);
  table.trace.IsAnsweredYes("b", Seconds(1));
  ExpectViolated(table.trace.EndsAt(Seconds(2)), Invariant::kHasLockTruthful, Seconds(1));
}

TEST(TokenlessTest, OfTokensNothingIsSaid) {
  Table table("lease_lock");
  table.At(Seconds(1)).Leases("a", lease_lock::steps::kAcquire, "a");
  table.At(Seconds(9)).Leases("b", lease_lock::steps::kAcquire, "b");
  const CheckReport report = table.trace.EndsAt(Seconds(10));
  for (const Invariant invariant :
       {Invariant::kOneLiveToken, Invariant::kTokenMonotonic, Invariant::kHandedTokenMonotonic,
        Invariant::kFencedWritesOrdered}) {
    EXPECT_EQ(WordOf(report[invariant].verdict), "n/a") << WordOf(invariant);
    EXPECT_EQ(report[invariant].violations, 0) << WordOf(invariant);
  }
}

TEST(TokenlessTest, AnotherAnchorThanTheLocksIsNotItsRow) {
  Table table("semaphore");
  table.At(Seconds(1)).Updates("a", "a");
  ExpectHolds(table.trace.judge().Finish({Seconds(1).ns}), Invariant::kIsolation);
  table.Commits(table.trace.Process("a"), semaphore::steps::kUpdate,
                Row{int64_t{2}, std::string("a"), Stamp(Seconds(1))});
  EXPECT_EQ(table.trace.judge().ledger().OwnerOf(0), table.trace.Process("a"));
  ExpectViolated(table.trace.EndsAt(Seconds(2)), Invariant::kIsolation, Seconds(1), 0,
                 {"wrote the row 2"});
}

// --- rules -------------------------------------------------------------------------------------

TEST(RulesTest, TokenlessColumnsStandWhereTheirTablesSay) {
  // Rules are written beside the protocol; the table is what both mean.
  const auto names = [](std::string_view protocol) {
    const Rules& rules = RulesOf(protocol);
    const ProtocolInfo& info = *FindProtocol(protocol);
    EXPECT_FALSE(rules.token_column.has_value());
    EXPECT_EQ(rules.HolderColumn(), rules.owner_column);
    return std::pair(info.columns[rules.key_column].name, info.columns[rules.owner_column].name);
  };
  EXPECT_EQ(names("semaphore"),
            std::pair(std::string_view("anchor"), std::string_view("service_id")));
  EXPECT_EQ(names("lease_lock"), std::pair(std::string_view("key"), std::string_view("owner")));
}

TEST(RulesTest, TheirLeasesEndWhereTheirTextsSay) {
  const Row seen = {int64_t{1}, std::string("a"), Stamp(Seconds(5))};
  EXPECT_EQ(RulesOf("semaphore").lease_until(seen, Seconds(10)), Stamp(Seconds(15)));
  const Row leased = {std::string("lock"), std::string("a"), Stamp(Seconds(5)), Stamp(Duration{}),
                      Stamp(Seconds(9))};
  EXPECT_EQ(RulesOf("lease_lock").lease_until(leased, Seconds(10)), Stamp(Seconds(5)));
  for (const Duration asked : {Seconds(2), Milliseconds(2'900), Seconds(10)}) {
    EXPECT_EQ(RulesOf("semaphore").lease_used(asked),
              semaphore::MakeConfig("t", "lock", "id", asked).timeout);
    EXPECT_EQ(RulesOf("lease_lock").lease_used(asked),
              lease_lock::MakeConfig("t", "lock", "id", asked).lease);
  }
}

TEST(RulesTest, TheirWedgeBoundsAreThoseOfTheirPages) {
  // timeout + period + idle abort + R; lease + grace, twice, + poll + R.
  EXPECT_EQ(RulesOf("semaphore").wedge_bound(Seconds(10), Milliseconds(50)), Milliseconds(11'200));
  EXPECT_EQ(RulesOf("lease_lock").wedge_bound(Seconds(12), Milliseconds(50)), Milliseconds(25'200));
}

TEST(RulesTest, AKeyForPeopleIsTheLocksNameOrATextOfItsType) {
  const Rules& semaphore = RulesOf("semaphore");
  EXPECT_EQ(ParseKey(semaphore, "job", "job"), Value(int64_t{1}));
  EXPECT_EQ(ParseKey(semaphore, "job", "7"), Value(int64_t{7}));
  EXPECT_EQ(ParseKey(semaphore, "job", "7a"), std::nullopt);
  EXPECT_EQ(ParseKey(semaphore, "job", ""), std::nullopt);
  EXPECT_EQ(ParseKey(RulesOf("lease_lock"), "job", "7"), Value(std::string("7")));
}

}  // namespace
}  // namespace whorl::sim::checkers_tokenless_test
