#include "sim/scenario/loader.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/parse_duration.h"
#include "protocol/protocols.h"
#include "protocol/spindle_v2/words.h"
#include "sim/scenario/language.h"

namespace whorl::sim::loader_test {
namespace {

// Every key of the language, once.
constexpr std::string_view kFull = R"({
  "$schema": "schema.json",
  "version": 1,
  "about": "Everything at once.",
  "protocol": "spindle_v2", "constants": "shipped",
  "locks": ["job", "job_daily"],
  "lease": "5s",
  "nodes": [
    "a",
    { "name": "b", "id": "same", "locks": ["job_daily"], "lease": "2.5s", "start_at": "1500ms",
      "deadline": "1m", "use": "callback", "clock": { "offset": "-3ms", "rate_ppm": -200 } },
    { "name": "pod", "count": 3, "id": "twin", "start_at": "never", "use": "lock" }
  ],
  "rows": [
    { "name": "job", "writer": "old", "heartbeat": "-12s", "token": "2025-12-31T23:59:00Z" },
    { "writer": null, "name": "job_daily", "token": "0s" }
  ],
  "duration": "2h",
  "seed": 18446744073709551615,
  "spanner": {
    "preset": "regional",
    "truetime": { "epsilon": "4ms", "truthful": false, "error": "-10ms" },
    "current_timestamp_error": "-6ms",
    "strict_pending_commit_timestamp": "column", "default_isolation": "repeatable_read", "splits": ["lock_", "m"]
  },
  "network": { "connection_timeout": "7s", "announce_releases": true, "commit_timeout": "3s" },
  "workload": { "write_every": "200ms", "work_for": "0s", "stop_takes": "3ms", "resource": "fenced",
                "ask": [ "Leader", "HasLock2" ], "ask_every": "2s", "hold_for": "4s", "lock_again": "5s" },
  "faults": [
    { "at": "1m", "do": "start", "node": "pod-*", "stagger": "10s" },
    { "when": { "node": "b", "step": "takeover_insert", "phase": "replied", "count": 2,
                "lock": "job_daily" }, "do": "pause", "for": "9s" },
    { "when": { "node": "a", "step": "has_lock", "phase": "ended" }, "do": "crash", "node": "b",
      "restart_after": "3s" },
    { "at": "0s", "do": "partition", "node": "a", "for": "30s", "mode": "refuse" },
    { "at": "90m", "do": "stop", "node": "b" },
    { "at": "91m", "do": "drop_reply", "node": "b" },
    { "at": "92m", "do": "partition", "node": "a", "direction": "to" },
    { "at": "93m", "do": "latency", "node": "a",
      "add": { "min": "1ms", "p50": "20ms", "p99": "400ms", "max": "1s" } },
    { "at": "94m", "do": "abort", "node": "a", "for": "9s", "percent": 30 },
    { "at": "95m", "do": "clock", "node": "a", "step": "-3s" },
    { "at": "96m", "do": "clock", "node": "a", "stands": true, "for": "9s" },
    { "at": "97m", "do": "delete_row", "lock": "job", "row": "job_1" },
    { "at": "98m", "do": "error", "node": "a", "of_step": "check", "code": "DATA_LOSS", "calls": 3,
      "of_call": "statement", "applied": true, "impossible": true, "every": "1m", "times": 2 },
    { "at": "99m", "do": "duplicate_request", "node": "a", "after": "1ms" }
  ],
  "schedule": [
    { "at": "0s", "event": "call_arrives", "node": "b", "incarnation": 2, "lock": "job_daily",
      "step": "check", "transaction": 3, "attempt": 4, "call": 5,
      "truetime_error": "-1us", "current_timestamp_error": "1us" },
    { "event": "timer_due", "node": "a", "timer": "belief", "id": 6 },
    { "event": "fault_begins", "fault": 7 }
  ],
  "expect": {
    "holds": ["one_live_token", "no_wedge"],
    "violates": ["lease_respected"],
    "sometimes": ["takeover", "aborted"],
    "metrics": { "takeovers": { "min": 1 }, "grants": 3, "without_holder_max": { "max": "12s" },
                 "belief_overlap_sum": "0s" },
    "takeover_within": "12s", "reach": ["leader takeover_insert sent", "b resumed"],
    "faults_may_miss": true
  }
})";

constexpr std::string_view kSmall = R"({
  "version": 1,
  "about": "x",
  "protocol": "spindle_v2",
  "nodes": ["a", "b"],
  "duration": "60s"
})";

// kSmall with its `from` turned into `to`.
std::string Changed(std::string_view from, std::string_view to) {
  std::string text(kSmall);
  return text.replace(text.find(from), from.size(), to);
}

Scenario Parsed(std::string_view text) {
  const absl::StatusOr<Scenario> scenario = ParseScenario(text, "dir/x.json");
  EXPECT_TRUE(scenario.ok()) << scenario.status();
  return scenario.ok() ? *scenario : Scenario();
}

TEST(ScenarioLoader, FillsInTheDefaults) {
  const Scenario scenario = Parsed(kSmall);
  Scenario expected;
  expected.name = "x";
  expected.path = "dir/x.json";
  expected.about = "x";
  expected.protocol = "spindle_v2";
  expected.locks = {"lock"};
  expected.nodes.resize(2);
  expected.nodes[0].name = "a";
  expected.nodes[1].name = "b";
  for (NodeSpec& node : expected.nodes) node.locks = {0};
  expected.duration = Seconds(60);
  EXPECT_EQ(scenario, expected);
}

TEST(ScenarioLoader, ReadsNodesWithEachOfTheirKeys) {
  const std::vector<NodeSpec> nodes = Parsed(kFull).nodes;
  NodeSpec a;
  a.name = "a";
  a.locks = {0, 1};
  a.lease = Seconds(5);
  const NodeSpec b = {.name = "b",
                      .id = "same",
                      .locks = {1},
                      .lease = Milliseconds(2500),
                      .start_at = Instant{1'500'000'000},
                      .deadline = Seconds(60),
                      .use = Use::kCallback,
                      .clock = {.offset = Milliseconds(-3), .rate_ppm = -200}};
  NodeSpec pod = a;
  pod.name = "pod-1";
  pod.id = "twin";  // shared: this is how two processes with one id are written
  pod.start_at = std::nullopt;
  pod.use = Use::kLock;
  ASSERT_EQ(nodes.size(), 5U);
  EXPECT_EQ(nodes[0], a);
  EXPECT_EQ(nodes[1], b);
  EXPECT_EQ(nodes[2], pod);
  pod.name = "pod-3";
  EXPECT_EQ(nodes[4], pod);
}

TEST(ScenarioLoader, ReadsRowsInTheOrderOfTheTable) {
  const std::vector<RowSpec> rows = Parsed(kFull).rows;
  const RowSpec job = {.columns = {"name", "heartbeat", "token", "writer"},
                       .values = {std::string("job"), kStartTime - Seconds(12),
                                  kStartTime - Seconds(60), std::string("old")}};
  const RowSpec daily = {.columns = {"name", "token", "writer"},
                         .values = {std::string("job_daily"), kStartTime, Null{}}};
  EXPECT_EQ(rows, (std::vector{job, daily}));
}

FaultSpec Fault(std::variant<Instant, When> trigger, AnyFault what, int16_t node, int line) {
  return {.trigger = trigger, .node = node, .what = std::move(what), .line = line};
}

TEST(ScenarioLoader, MakesOneFaultForEachNodeThatAPatternMatches) {
  const std::vector<FaultSpec> faults = Parsed(kFull).faults;
  ASSERT_EQ(faults.size(), 17U);
  EXPECT_EQ(faults[0], Fault(Instant{60'000'000'000}, StartFault{}, 2, 30));
  EXPECT_EQ(faults[1], Fault(Instant{70'000'000'000}, StartFault{}, 3, 30));
  EXPECT_EQ(faults[2], Fault(Instant{80'000'000'000}, StartFault{}, 4, 30));
}

TEST(ScenarioLoader, ReadsFaultsWithEachOfTheirKeys) {
  const std::vector<FaultSpec> faults = Parsed(kFull).faults;
  ASSERT_EQ(faults.size(), 17U);
  const When takeover = {1, spindle_v2::steps::kTakeoverInsert, Phase::kReplied, 2, uint16_t{1}};
  EXPECT_EQ(faults[3], Fault(takeover, PauseFault{.lasts = Seconds(9)}, 1, 31));
  const When answer = {0, steps::kHasLock, Phase::kEnded, 1, std::nullopt};
  EXPECT_EQ(faults[4], Fault(answer, CrashFault{.restart_after = Seconds(3)}, 1, 33));
  const PartitionFault partition = {.lasts = Seconds(30), .mode = PartitionMode::kRefuse};
  EXPECT_EQ(faults[5], Fault(Instant{}, partition, 0, 35));
  EXPECT_EQ(faults[6], Fault(Instant{} + Seconds(5400), StopFault{}, 1, 36));
  EXPECT_EQ(faults[7], Fault(Instant{} + Seconds(5460), DropReplyFault{}, 1, 37));
}

// One fault of a scenario of two nodes and one lock.
FaultSpec OnlyFault(const std::string& fault) {
  std::string text(kSmall);
  text.replace(text.rfind('}'), 1, ", \"faults\": [" + fault + "] }");
  const std::vector<FaultSpec> faults = Parsed(text).faults;
  EXPECT_EQ(faults.size(), 1U) << fault;
  return faults.empty() ? FaultSpec{} : faults.front();
}

// The part of the fault that belongs to its kind.
template <typename Kind>
Kind Only(const std::string& fault) {
  const FaultSpec spec = OnlyFault(fault);
  EXPECT_NE(spec.As<Kind>(), nullptr) << fault;
  return spec.As<Kind>() == nullptr ? Kind{} : *spec.As<Kind>();
}

TEST(ScenarioLoader, ReadsTheKeysOfEachKindOfFault) {
  EXPECT_EQ(
      Only<PartitionFault>(
          R"({ "at": "1s", "do": "partition", "node": "a", "direction": "to", "mode": "refuse" })"),
      (PartitionFault{.mode = PartitionMode::kRefuse, .direction = Direction::kTo}));

  const Duration ms50 = Milliseconds(50);
  EXPECT_EQ(Only<LatencyFault>(R"({ "at": "1s", "do": "latency", "node": "b", "add": "50ms" })"),
            (LatencyFault{.lasts = {},
                          .direction = Direction::kBoth,
                          .add = {.min = ms50, .p50 = ms50, .p99 = ms50, .max = ms50}}));
  EXPECT_EQ(
      Only<LatencyFault>(R"({ "at": "1s", "do": "latency", "node": "b", "for": "9s",
                              "direction": "from",
                              "add": { "p50": "20ms", "p99": "400ms", "max": "1s" } })"),
      (LatencyFault{
          .lasts = Seconds(9),
          .direction = Direction::kFrom,
          .add = {
              .min = {}, .p50 = Milliseconds(20), .p99 = Milliseconds(400), .max = Seconds(1)}}));

  EXPECT_EQ(
      Only<AbortFault>(R"({ "at": "1s", "do": "abort", "node": "a", "for": "9s", "percent": 30 })"),
      (AbortFault{.lasts = Seconds(9), .percent = 30}));
  EXPECT_EQ(Only<AbortFault>(R"({ "at": "1s", "do": "abort", "node": "a" })"), AbortFault{});

  EXPECT_EQ(Only<ClockFault>(
                R"({ "at": "1s", "do": "clock", "node": "a", "offset": "-3s", "rate_ppm": 7 })"),
            (ClockFault{.offset = -Seconds(3), .rate_ppm = 7}));
  EXPECT_EQ(Only<ClockFault>(R"({ "at": "1s", "do": "clock", "node": "a", "step": "3s" })"),
            (ClockFault{.step = Seconds(3)}));
  EXPECT_EQ(Only<ClockFault>(
                R"({ "at": "1s", "do": "clock", "node": "a", "stands": true, "for": "1s" })"),
            (ClockFault{.lasts = Seconds(1), .stands = true}));
}

TEST(ScenarioLoader, ReadsTheStepAndTheCodeOfAnError) {
  EXPECT_EQ(Only<ErrorFault>(R"({ "at": "1s", "do": "error", "node": "a", "of_step": "check",
                                  "code": "RESOURCE_EXHAUSTED", "for": "2s", "percent": 20 })"),
            (ErrorFault{.lasts = Seconds(2),
                        .percent = 20,
                        .of_step = spindle_v2::steps::kCheck,
                        .code = ErrorCode::kResourceExhausted}));
  // The step of `when` is the one that is meant.
  EXPECT_EQ(Only<ErrorFault>(R"({ "do": "error", "code": "UNKNOWN", "when": { "node": "a",
                                  "step": "heartbeat_update", "phase": "sent" } })"),
            (ErrorFault{.of_step = std::nullopt, .code = ErrorCode::kUnknown}));
  EXPECT_EQ(Only<ErrorFault>(R"({ "at": "1s", "do": "error", "node": "a", "of_call": "commit",
                                  "code": "ABORTED", "applied": true, "impossible": true,
                                  "calls": 3 })"),
            (ErrorFault{.calls = 3,
                        .of_call = ErrorCall::kCommit,
                        .code = ErrorCode::kAborted,
                        .applied = true,
                        .impossible = true}));
}

TEST(ScenarioLoader, ReadsFaultsAtSpanner) {
  const FaultSpec down = OnlyFault(R"({ "at": "1s", "do": "unavailable", "for": "2s" })");
  EXPECT_EQ(down.node, FaultSpec::kNoNode);
  EXPECT_EQ(down.what, AnyFault(UnavailableFault{.lasts = Seconds(2)}));
  EXPECT_EQ(
      Only<TrueTimeFault>(R"({ "at": "1s", "do": "truetime", "truthful": false, "error": "-9ms" })")
          .truetime,
      (TrueTimeSpec{Milliseconds(4), false, Milliseconds(-9)}));
  EXPECT_EQ(Only<TrueTimeFault>(R"({ "at": "1s", "do": "truetime", "epsilon": "1s" })").truetime,
            (TrueTimeSpec{Seconds(1), true, {}}));
  EXPECT_EQ(
      Only<CurrentTimestampFault>(R"({ "at": "1s", "do": "current_timestamp", "error": "-6ms" })"),
      (CurrentTimestampFault{.error = Milliseconds(-6)}));
  // `when` still names a node.
  const FaultSpec deleted = OnlyFault(R"({ "do": "delete_row",
    "when": { "node": "b", "step": "check", "phase": "ended" } })");
  EXPECT_EQ(deleted.node, FaultSpec::kNoNode);
  EXPECT_EQ(std::get<When>(deleted.trigger).node, 1);
  EXPECT_EQ(deleted.what, AnyFault(DeleteRowFault{{.lock = 0, .row = "lock"}}));
  EXPECT_EQ(
      Only<DeleteRowFault>(R"({ "at": "1s", "do": "delete_row", "row": "lock_1" })").target.row,
      "lock_1");
}

TEST(ScenarioLoader, AFaultMayComeAgain) {
  const std::vector<FaultSpec> faults =
      Parsed(Changed(R"("duration": "60s")", R"("duration": "60s", "faults": [
        { "at": "5s", "do": "pause", "for": "1s", "node": "*", "stagger": "1s",
          "every": "20s", "times": 2 } ])"))
          .faults;
  std::vector<std::pair<int16_t, int64_t>> struck;
  for (const FaultSpec& fault : faults) {
    struck.emplace_back(fault.node, std::get<Instant>(fault.trigger).ns / 1'000'000'000);
  }
  EXPECT_EQ(struck, (std::vector<std::pair<int16_t, int64_t>>{{0, 5}, {1, 6}, {0, 25}, {1, 26}}));
}

TEST(ScenarioLoader, TheLeaderIsTheNodeThatLeadsUnlessANodeHasThatName) {
  const std::string fault = R"("duration": "60s", "faults": [
    { "at": "5s", "do": "pause", "for": "1s", "node": "leader" } ])";
  std::string text = Changed(R"("duration": "60s")", fault);
  EXPECT_EQ(Parsed(text).faults.at(0).node, FaultSpec::kLeader);
  text.replace(text.find("\"b\""), 3, "\"leader\"");
  EXPECT_EQ(Parsed(text).faults.at(0).node, 1);
}

TEST(ScenarioLoader, ReadsEverythingElse) {
  const Scenario scenario = Parsed(kFull);
  EXPECT_EQ(scenario.locks, (std::vector<std::string>{"job", "job_daily"}));
  EXPECT_EQ(scenario.duration, Seconds(7200));
  EXPECT_EQ(scenario.seed, 18'446'744'073'709'551'615U);
  EXPECT_EQ(scenario.spanner,
            (SpannerSpec{.preset = Preset::kRegional,
                         .truetime = {Milliseconds(4), false, Milliseconds(-10)},
                         .current_timestamp_error = Milliseconds(-6),
                         .strict_pending_commit_timestamp = PendingCommitTimestampRule::kColumn,
                         .default_isolation = DefaultIsolation::kRepeatableRead,
                         .splits = {"lock_", "m"}}));
  EXPECT_EQ(scenario.network, (NetworkSpec{.connection_timeout = Seconds(7),
                                           .announce_releases = true,
                                           .commit_timeout = Seconds(3)}));
  EXPECT_EQ(scenario.workload,
            (WorkloadSpec{.write_every = Milliseconds(200),
                          .work_for = Duration{},
                          .stop_takes = Milliseconds(3),
                          .resource = ResourceKind::kFenced,
                          .ask = {SideQuestion::kLeader, SideQuestion::kHasLock2},
                          .ask_every = Seconds(2),
                          .hold_for = Seconds(4),
                          .lock_again = Seconds(5)}));
  Expectations expect;
  expect.holds = {Invariant::kOneLiveToken, Invariant::kNoWedge};
  expect.violates = {Invariant::kLeaseRespected};
  expect.sometimes = {Sometimes::kTakeover, Sometimes::kAborted};
  expect.metrics = {{Metric::kTakeovers, 1, std::nullopt},
                    {Metric::kGrants, 3, 3},
                    {Metric::kWithoutHolderMax, std::nullopt, Seconds(12).ns},
                    {Metric::kBeliefOverlapSum, 0, 0}};
  expect.takeover_within = Seconds(12);
  expect.reach = {{.node = Waypoint::kLeader,
                   .what = StepPhase{.step = *FindStep("takeover_insert"), .phase = Phase::kSent}},
                  {.node = 1, .what = ProcessEvent::kResumed}};
  for (Waypoint& waypoint : expect.reach) waypoint.line = 62;
  expect.faults_may_miss = true;
  EXPECT_EQ(scenario.expect, expect);
}

TEST(ScenarioLoader, ReadsTheSchedule) {
  const std::vector<ScheduleEntry> schedule = Parsed(kFull).schedule;
  ASSERT_EQ(schedule.size(), 3U);
  ScheduleEntry call;
  call.at = Instant{};
  call.event = ScheduledEvent::kCallArrives;
  call.node = 1;
  call.incarnation = 2;
  call.lock = 1;
  call.step = spindle_v2::steps::kCheck;
  call.transaction = 3;
  call.attempt = 4;
  call.call = 5;
  call.clocks = {.truetime = -Microseconds(1), .current_timestamp = Microseconds(1)};
  call.line = 50;
  EXPECT_EQ(schedule[0], call);
  ScheduleEntry timer;
  timer.event = ScheduledEvent::kTimerDue;
  timer.node = 0;
  timer.timer = TimerOwner::kBeliefLapses;
  timer.id = 6;
  timer.line = 53;
  EXPECT_EQ(schedule[1], timer);
  EXPECT_EQ(schedule[2].fault, 7U);
}

TEST(ScenarioLoader, IsTestedOnEachKeyThatItDescribes) {
  // A key that is described and read by nobody would be taken and ignored.
  for (const ObjectId id : AllOf<ObjectId>()) {
    if (id >= ObjectId::kRules) continue;  // CallRulesTest.AreRead
    for (const std::string_view key : DescribeObject(id).KeyNames()) {
      if (key == "branches") continue;  // they do not go with a schedule; OfBranches, TakesBranches
      EXPECT_NE(kFull.find("\"" + std::string(key) + "\":"), std::string_view::npos) << key;
    }
  }
}

TEST(ScenarioLoader, TakesBranches) {
  const Scenario scenario = Parsed(Changed(
      "\"60s\"", R"("60s", "branches": [{ "event": 5, "seed": 7 }, { "event": 9, "seed": 0 }])"));
  EXPECT_EQ(scenario.branches,
            (std::vector<BranchSpec>{{.event = 5, .seed = 7}, {.event = 9, .seed = 0}}));
}

TEST(ScenarioLoader, TakesDurationsInEachUnitWhenTheyAreWholeNanoseconds) {
  const auto duration = [](std::string_view text) {
    return Parsed(Changed("60s", text)).duration.ns;
  };
  EXPECT_EQ(duration("7ns"), 7);
  EXPECT_EQ(duration("1.5us"), 1'500);
  EXPECT_EQ(duration("0.000001ms"), 1);
  EXPECT_EQ(duration("001.50s"), 1'500'000'000);
  EXPECT_EQ(duration("0.05m"), 3'000'000'000);
  EXPECT_EQ(duration("0.000000000005h"), 18);
  EXPECT_EQ(duration("87600h"), kMaxDuration.ns);
}

TEST(ScenarioLoader, NamesAScenarioAfterItsFile) {
  EXPECT_EQ(ParseScenario(kSmall, "scenarios/s1/insert_race.json")->name, "insert_race");
  EXPECT_EQ(ParseScenario(kSmall, "-")->name, "-");
}

TEST(ScenarioLoader, MatchesPatternsWithSeveralStars) {
  const Scenario scenario = Parsed(R"({ "version": 1, "about": "x", "protocol": "spindle_v2",
    "nodes": ["eu-pod-1", "eu-api-1", "us-pod-1", "us-pod-12"], "duration": "60s",
    "faults": [{ "at": "1s", "do": "crash", "node": "*-pod*1" }] })");
  ASSERT_EQ(scenario.faults.size(), 2U);
  EXPECT_EQ(scenario.faults[0].node, 0);
  EXPECT_EQ(scenario.faults[1].node, 2);
}

}  // namespace
}  // namespace whorl::sim::loader_test
