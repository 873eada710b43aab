// The bundle: reports, values, memory, and what checkers know of the protocol.
#include <algorithm>
#include <string>
#include <utility>

#include "protocol/fenced_lease/fenced_lease.h"
#include "protocol/protocols.h"
#include "protocol/spindle_v2/spindle_v2.h"
#include "sim/judge/checkers/setup.h"
#include "sim/scenario/rules.h"
#include "tests/sim/judge/checkers_testing.h"

namespace whorl::sim::checkers_bundle_test {
namespace {

TEST(CheckReportTest, ListsEveryInvariantInOrderWithItsPromise) {
  // Readers index by Invariant, and a hunt tells promised violations from others.
  Trace trace{"a"};
  const CheckReport report = trace.EndsAt(Seconds(1));
  ASSERT_EQ(report.invariants.size(), kCountOf<Invariant>);
  const ProtocolInfo& info = *FindProtocol("spindle_v2");
  for (const Invariant invariant : AllOf<Invariant>()) {
    const InvariantResult& result = report.invariants[static_cast<size_t>(invariant)];
    EXPECT_EQ(result.invariant, invariant);
    EXPECT_EQ(result.promise, info.promises[static_cast<size_t>(invariant)]);
    const bool applies = result.promise != Promise::kNotApplicable;
    EXPECT_EQ(result.verdict, applies ? Verdict::kHolds : Verdict::kNotApplicable)
        << WordOf(result.invariant);
  }
}

TEST(CheckReportTest, AnEmptyRunHasNoHolderAllTheTime) {
  // The metric begins at time zero, with or without an observation.
  Trace trace{"a"};
  EXPECT_EQ(trace.EndsAt(Seconds(7)).metrics[Metric::kWithoutHolderMax], Seconds(7).ns);
}

TEST(CheckersTest, TellHowManyViolationsThereWereSoFar) {
  // A driver that stops at the first violation compares before and after an observation.
  Trace trace{"a", "b"};
  trace.At(Seconds(1)).Starts("a").Starts("b").Believes("a");
  EXPECT_EQ(trace.judge().violations(), 0);
  trace.Believes("b");
  EXPECT_EQ(trace.judge().violations(), 1);
  EXPECT_EQ(trace.judge().violations(Invariant::kSingleLeaderBelief), 1);
  EXPECT_EQ(trace.judge().violations(Invariant::kIsolation), 0);
}

TEST(CheckersTest, ACopyIsAForkThatDivergesAlone) {
  // Exploration forks a run; neither side may see the other's future.
  Trace trace = HeldByA();
  Trace fork = trace;
  EXPECT_EQ(fork.judge(), trace.judge());
  fork.At(Seconds(2)).Grants("b", Seconds(2)).Knows("b", Seconds(2));
  EXPECT_NE(fork.judge(), trace.judge());
  ExpectHolds(trace.EndsAt(Seconds(3)), Invariant::kLeaseRespected);
  ExpectViolated(fork.EndsAt(Seconds(3)), Invariant::kLeaseRespected, Seconds(2));
}

TEST(CheckersTest, TheSameObservationsMakeEqualCheckers) {
  // Equality must not depend on who built the shared setup.
  Trace one{"a", "b"};
  Trace other{"a", "b"};
  EXPECT_EQ(one.judge(), other.judge());
  for (Trace* trace : {&one, &other}) {
    trace->At(Seconds(1)).Starts("a").Starts("b").Grants("a", Seconds(1)).Knows("a", Seconds(1));
    trace->Begins("a", 3).Begins("a", 1).Hangs("a", 1).FaultBegins();
  }
  EXPECT_EQ(one.judge(), other.judge());
  Trace another_scenario{"a", "c"};
  EXPECT_NE(Trace({"a", "b"}).judge(), another_scenario.judge());
}

TEST(CheckersTest, EveryPartOfTheStateCountsInEquality) {
  // A field that == forgets would merge different states.
  using Change = Trace& (*)(Trace&);
  const Change changes[] = {
      [](Trace& t) -> Trace& { return t.Pauses("a"); },
      [](Trace& t) -> Trace& { return t.LinkIs("b", LinkState::kRefused); },
      [](Trace& t) -> Trace& { return t.EndsParticipation("b"); },
      [](Trace& t) -> Trace& { return t.FaultBegins(); },
      [](Trace& t) -> Trace& { return t.Begins("b", 1); },
      [](Trace& t) -> Trace& { return t.Heartbeats("a"); },
      [](Trace& t) -> Trace& { return t.Knows("a", Seconds(1), false); },
      [](Trace& t) -> Trace& { return t.Knows("a", Seconds(1), true, true); },
      [](Trace& t) -> Trace& { return t.Knows("b", Seconds(9)); },
      [](Trace& t) -> Trace& { return t.Believes("b"); },
      [](Trace& t) -> Trace& { return t.IsAnsweredYes("a", Seconds(1), 5); },
      [](Trace& t) -> Trace& { return t.Writes("a", true, true, 5); },
      [](Trace& t) -> Trace& { return t.OperatorDeletes("lock"); },
  };
  for (const Change change : changes) {
    Trace before{"a", "b"};
    before.At(Seconds(1)).Starts("a").Starts("b").Grants("a", Seconds(1)).Knows("a", Seconds(1));
    Trace changed = before;
    change(changed.At(Seconds(2)));
    Trace same = before;
    before.At(Seconds(2)).Happens(Noted{.process = before.Process("a"), .note = {}});
    same.At(Seconds(2)).Happens(Noted{.process = before.Process("b"), .note = {}});
    EXPECT_EQ(same.judge(), before.judge());  // whose note it is means nothing to any checker
    EXPECT_NE(changed.judge(), before.judge());
  }
}

// What explores judges by: the checkers alone.
Checkers Heard(const Trace& trace) {
  Checkers checkers(trace.scenario(), Trace::kRoundTrip);
  for (const Observation& observation : trace.observations()) checkers.Observe(observation);
  return checkers;
}

TEST(CheckersTest, CountsDoNotKeepStatesApart) {
  // Two ways to one state differ in calls, transactions and times; what is judged from there on does
  // not.
  Trace trace = HeldByA();
  Trace busy = trace;
  busy.At(Seconds(2)).Begins("b", 1).Hangs("b", 1).FaultBegins().SendsWrite("a", true, 5);
  busy.At(Seconds(3)).Pauses("b").At(Seconds(40)).Resumes("b");
  EXPECT_NE(busy.judge(), trace.judge());
  EXPECT_EQ(Heard(busy), Heard(trace));
}

TEST(CheckersTest, TellTheViolatedInvariantsOnce) {
  // Each state of an exploration is asked what its last step showed.
  Trace trace{"a", "b"};
  trace.At(Seconds(1)).Starts("a").Starts("b").Believes("a").Believes("b");
  trace.IsAtWork("a").IsAtWork("b");
  Checkers checkers = Heard(trace);
  EXPECT_EQ(checkers.TakeViolated(), 1U << static_cast<uint32_t>(Invariant::kSingleLeaderBelief) |
                                         1U << static_cast<uint32_t>(Invariant::kSingleWorker));
  EXPECT_EQ(checkers.TakeViolated(), 0U);
}

TEST(CheckersTest, DoNotGrowWithSimulatedTime) {
  // A bench runs for days. What comes and goes must leave the ledger as it was, so that ten
  // rounds of it and a thousand end in equal ledgers, and equal disturbances.
  const auto live_through = [](int rounds) {
    Trace trace{"a", "b"};
    trace.At(Seconds(1)).Starts("a").Starts("b").Grants("a", Seconds(1)).Knows("a", Seconds(1));
    for (int round = 0; round < rounds; ++round) {
      trace.Begins("a", 1).Hangs("a", 1).Begins("a", 2).Finishes("a", 1).Finishes("a", 2);
      const std::string row = "lock_" + std::to_string(round);
      trace.Inserts("a", row).Heartbeats("a").Deletes("a", row);
      trace.Pauses("b").Knows("b", Seconds(round)).Resumes("b").Knows("b", std::nullopt);
      trace.IsAnsweredYes("a", Seconds(1), 5).Writes("a", true, true, 5).Believes("b");
      trace.Believes("b", false).FaultBegins().FaultEnds();
      trace.LinkIs("b", LinkState::kRefused).LinkIs("b", LinkState::kUp);
    }
    return std::pair(trace.judge().ledger(), trace.judge().disturbances());
  };
  EXPECT_EQ(live_through(10), live_through(1'000));
}

TEST(CheckersTest, ForgetWhatACrashedProcessLeftOpen) {
  // A process that crashes again and again must not leave a transaction behind each time.
  Trace trace{"a"};
  trace.At(Seconds(1));
  for (int round = 0; round < 100; ++round)
    trace.Starts("a").Begins("a", 1).Hangs("a", 1).Crashes("a");
  EXPECT_TRUE(trace.judge().disturbances().IsQuiet());
  EXPECT_EQ(trace.Starts("a").judge().ledger().CandidateCount(0), 1);
}

TEST(RulesTest, SpindleV2sColumnsStandWhereItsTableSays) {
  // Rules are written beside the protocol; the DDL is what both mean.
  const Rules& rules = RulesOf("spindle_v2");
  const std::string ddl(FindProtocol("spindle_v2")->create_table);
  const auto place_of = [&ddl](const std::string& column) {
    size_t place = 0;
    const size_t at = ddl.find("\n  " + column + " ");
    EXPECT_NE(at, std::string::npos) << column;
    for (size_t i = 0; i < at; ++i) place += ddl[i] == '\n' ? 1 : 0;
    return place;
  };
  EXPECT_EQ(place_of("name"), rules.key_column);
  EXPECT_EQ(place_of("token"), rules.token_column);
  Row row = {std::string("lock"), Null{}, Null{}, Null{}};
  EXPECT_EQ(rules.lease_until(row, Seconds(10)), std::nullopt);
  row[place_of("heartbeat")] = Stamp(Seconds(5));
  EXPECT_EQ(rules.lease_until(row, Seconds(10)), Stamp(Seconds(15)));
}

TEST(RulesTest, SpindleV2sLeaseIsTheOneThatTheProtocolUses) {
  // Two texts of one rule: whole milliseconds, at least one second.
  for (const Duration asked : {Milliseconds(1), Milliseconds(999), Seconds(1), Seconds(10),
                               Nanoseconds(1'500'999'999), Seconds(0)}) {
    EXPECT_EQ(RulesOf("spindle_v2").lease_used(asked),
              spindle_v2::MakeConfig("locktable", "lock", "id", asked).lease);
  }
}

TEST(RulesTest, SpindleV2sTakeoverRowsAreItsSideRows) {
  // The name as the protocol makes it, up to the greatest hash.
  const Rules& rules = RulesOf("spindle_v2");
  for (const uint64_t hash : {uint64_t{0}, spindle_v2::kHashOfNoRow, ~uint64_t{0}}) {
    EXPECT_TRUE(rules.is_side_row("job", spindle_v2::TakeoverRowName("job", hash)));
    EXPECT_FALSE(rules.is_side_row("jo", spindle_v2::TakeoverRowName("job", hash)));
  }
}

TEST(RulesTest, FencedLeasesRowsSayTheirLeaseAndWhetherTheyAreReleased) {
  // heartbeat + the row's own lease_ms, whatever the lease of its owner is; no writer: given back.
  const Rules& rules = RulesOf("fenced_lease");
  const ProtocolInfo& info = *FindProtocol("fenced_lease");
  const auto place_of = [&info](std::string_view name) {
    const auto found = std::ranges::find(info.columns, name, &ColumnInfo::name);
    return static_cast<size_t>(found - info.columns.begin());
  };
  EXPECT_EQ(place_of("name"), rules.key_column);
  EXPECT_EQ(place_of("token"), rules.token_column);
  Row row = {std::string("lock"), Null{}, Null{}, std::string("a"), int64_t{3'000}, Null{}};
  EXPECT_EQ(rules.lease_until(row, Seconds(10)), std::nullopt);
  row[place_of("heartbeat")] = Stamp(Seconds(5));
  EXPECT_EQ(rules.lease_until(row, Seconds(10)), Stamp(Seconds(8)));
  EXPECT_FALSE(rules.is_released(row));
  row[place_of("lease_ms")] = Null{};
  row[place_of("writer")] = Null{};
  EXPECT_EQ(rules.lease_until(row, Seconds(10)), Stamp(Seconds(15)));
  EXPECT_TRUE(rules.is_released(row));
}

TEST(RulesTest, FencedLeasesBoundIsOneAndFourFifthsOfTheLeaseByTheSlowestClocks) {
  const Duration bound = RulesOf("fenced_lease").wedge_bound(Seconds(10), Milliseconds(5));
  const Duration least = Milliseconds(18'036 + 20);  // 18 s x 1.001 / 0.999 is 18.036036 s
  EXPECT_GE(bound, least);
  EXPECT_LE(bound, least + Microseconds(37));
  for (const Duration asked : {Milliseconds(1), Nanoseconds(1'500'999'999), Seconds(7'200)}) {
    EXPECT_EQ(RulesOf("fenced_lease").lease_used(asked),
              fenced_lease::MakeConfig("locktable", "lock", "id", asked).lease);
  }
}

TEST(PromisesTest, SomeOfThemDoNotCoverAnOperatorWhoDeletesTheRow) {
  // A believer answers from what it knows, until its next heartbeat.
  Scenario scenario;
  scenario.protocol = "fenced_lease";
  const auto promise = [&scenario](Invariant invariant) {
    return PromisesThroughout(scenario)[static_cast<size_t>(invariant)];
  };
  EXPECT_EQ(promise(Invariant::kHasLockTruthful), Promise::kPromised);
  scenario.faults.push_back({.what = DeleteRowFault{}});
  EXPECT_EQ(promise(Invariant::kHasLockTruthful), Promise::kNotPromised);
  EXPECT_EQ(promise(Invariant::kLeaseRespected), Promise::kNotPromised);
  EXPECT_EQ(promise(Invariant::kSingleLeaderBelief), Promise::kPromised);
}

TEST(PromisesTest, SpindleV3RespectsALeaseThatAllJudgeAlike) {
  // Hunting is blind on a protocol that promises too little.
  Scenario scenario = MakeScenario({"a", "b"});
  scenario.protocol = "spindle_v3";
  const auto promise = [](const Scenario& in) {
    return PromisesThroughout(in)[static_cast<size_t>(Invariant::kLeaseRespected)];
  };
  EXPECT_EQ(promise(scenario), Promise::kPromised);
  Scenario other = scenario;
  other.nodes[1].lease = Seconds(7);
  EXPECT_EQ(promise(other), Promise::kNotPromised) << "V7";
  other = scenario;
  other.nodes[0].id = other.nodes[1].id = "pod";
  EXPECT_EQ(promise(other), Promise::kNotPromised) << "V4";
  other = scenario;
  other.spanner.current_timestamp_error = Milliseconds(-1);
  EXPECT_EQ(promise(other), Promise::kNotPromised);
  other = scenario;
  other.faults.push_back({.what = CurrentTimestampFault{}});
  EXPECT_EQ(promise(other), Promise::kNotPromised);
}

TEST(RulesTest, EveryProtocolHasRules) {
  // A protocol without rules ends the program when a run starts.
  for (const ProtocolInfo& info : Protocols()) {
    EXPECT_EQ(RulesOf(info.name).protocol, info.name);
  }
}

}  // namespace
}  // namespace whorl::sim::checkers_bundle_test
