#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/hosted.h"
#include "protocol/infos.h"
#include "protocol/spindle_v2/lock.h"
#include "protocol/spindle_v2/spindle_v2.h"
#include "protocol/spindle_v2/words.h"

namespace whorl::spindle_v2 {
namespace {

constexpr std::array<StepName, 7> kSteps = {
    steps::kCheck,          steps::kFirstInsert,     steps::kReread,         steps::kTakeoverInsert,
    steps::kTakeoverUpdate, steps::kHeartbeatUpdate, steps::kHeartbeatDelete};
constexpr std::array<StepName, 3> kStepsWithoutCommit = {steps::kCheck, steps::kReread,
                                                         steps::kHeartbeatDelete};
constexpr std::array<StepName, 1> kStepsWithinOthers = {steps::kHeartbeatDelete};
constexpr std::array<StepName, 1> kUrgentSteps = {steps::kHeartbeatUpdate};
constexpr std::array<ColumnInfo, 4> kColumns = {{
    {.name = "name", .type = Type::kString, .key = true},
    {.name = "heartbeat", .type = Type::kTimestamp},
    {.name = "token", .type = Type::kTimestamp},
    {.name = "writer", .type = Type::kString},
}};
constexpr std::array<Invariant, 3> kBreaksS1 = {
    Invariant::kLeaseRespected,
    Invariant::kSingleLeaderBelief,
    Invariant::kHandedTokenMonotonic,
};
constexpr std::array<Invariant, 1> kBreaksLeaseRespected = {Invariant::kLeaseRespected};
constexpr std::array<Invariant, 1> kBreaksNoWedge = {Invariant::kNoWedge};
constexpr std::array<Invariant, 1> kBreaksTokenMonotonic = {Invariant::kTokenMonotonic};
constexpr std::array<Invariant, 1> kBreaksIsolation = {Invariant::kIsolation};
constexpr std::array<Invariant, 2> kBreaksS7b = {
    Invariant::kIsolation,
    Invariant::kTokenMonotonic,
};
constexpr std::array<Invariant, 2> kBreaksS8 = {
    Invariant::kTokenMonotonic,
    Invariant::kLeaseRespected,
};
constexpr std::array<Invariant, 1> kBreaksSingleLeaderBelief = {
    Invariant::kSingleLeaderBelief,
};
constexpr std::array<Invariant, 1> kBreaksHandedTokenMonotonic = {
    Invariant::kHandedTokenMonotonic,
};
constexpr std::array<Invariant, 1> kBreaksToldOfLeadership = {Invariant::kToldOfLeadership};
constexpr std::array<Invariant, 1> kBreaksReasonedStepDown = {Invariant::kReasonedStepDown};
constexpr std::array<KnownFinding, 18> kFindings = {{
    {.id = "S1", .breaks = kBreaksS1, .needs = std::nullopt},
    {.id = "S2", .breaks = kBreaksLeaseRespected, .needs = std::nullopt},
    {.id = "S3", .breaks = kBreaksNoWedge, .needs = std::nullopt},
    {.id = "S4", .breaks = kBreaksTokenMonotonic, .needs = std::nullopt},
    {.id = "S4b", .breaks = kBreaksLeaseRespected, .needs = std::nullopt},
    {.id = "S5", .breaks = kBreaksLeaseRespected, .needs = std::nullopt},
    {.id = "S6", .breaks = kBreaksNoWedge, .needs = std::nullopt},
    {.id = "S7", .breaks = kBreaksIsolation, .needs = std::nullopt},
    {.id = "S7b", .breaks = kBreaksS7b, .needs = std::nullopt},
    {.id = "S8", .breaks = kBreaksS8, .needs = std::nullopt},
    {.id = "S9", .breaks = kBreaksNoWedge, .needs = std::nullopt},
    {.id = "S10", .breaks = kBreaksSingleLeaderBelief, .needs = std::nullopt},
    {.id = "S12", .breaks = kBreaksHandedTokenMonotonic, .needs = std::nullopt},
    {.id = "S15", .breaks = kBreaksLeaseRespected, .needs = Circumstance::kLeasesDiffer},
    {.id = "S16", .breaks = kBreaksToldOfLeadership, .needs = std::nullopt},
    {.id = "S17", .breaks = kBreaksReasonedStepDown, .needs = std::nullopt},
    {.id = "W1", .breaks = kBreaksSingleLeaderBelief, .needs = std::nullopt},
    {.id = "W3", .breaks = kBreaksNoWedge, .needs = std::nullopt},
}};
// Its token is the commit timestamp of another row than the lock's.
constexpr std::array<PromiseLimit, 2> kPromiseLimits = {
    {{Invariant::kOneLiveToken, Circumstance::kSeveralSplits},
     {Invariant::kHasLockTruthful, Circumstance::kSeveralSplits}}};
constexpr std::array<ImpossibleGoal, 2> kImpossibleGoals = {{
    {.goal = "release", .why = "it never gives a lock back"},
    {.goal = "clock_stop_noticed", .why = "its processes do not compare their clocks"},
}};

std::array<Promise, kCountOf<Invariant>> Promises() {
  std::array<Promise, kCountOf<Invariant>> promises{};
  promises.fill(Promise::kNotPromised);
  promises[static_cast<size_t>(Invariant::kOneLiveToken)] = Promise::kPromised;
  promises[static_cast<size_t>(Invariant::kHasLockTruthful)] = Promise::kPromised;
  promises[static_cast<size_t>(Invariant::kFencedWritesOrdered)] = Promise::kPromised;
  promises[static_cast<size_t>(Invariant::kAnsweredInTime)] = Promise::kPromised;
  // It never gives a lock back.
  promises[static_cast<size_t>(Invariant::kNoWorkAfterRelease)] = Promise::kNotApplicable;
  promises[static_cast<size_t>(Invariant::kPromptHandover)] = Promise::kNotApplicable;
  return promises;
}

ProtocolConfig MakeHosted(const std::string& table, std::string lock_name, std::string id,
                          Duration lease) {
  return Hosted<State, LockState>(MakeConfig(table, std::move(lock_name), std::move(id), lease));
}

ProtocolConfig MakeHostedGrid(const std::string& table, std::string lock_name, std::string id,
                              Duration lease) {
  Config config = MakeConfig(table, std::move(lock_name), std::move(id), lease);
  config.constants = GridConstants(config.lease);
  return Hosted<State, LockState>(std::move(config));
}

std::vector<StepStatement> Statements(const std::string& table) {
  const Config config = MakeConfig(table, "", "", Seconds(1));
  return std::vector<StepStatement>{
      {.step = steps::kCheck, .sql = config.check, .in_read_write = false},
      {.step = steps::kReread, .sql = config.read_token, .in_read_write = false},
      {.step = whorl::steps::kHasLock,
       .sql = config.read_token,
       .in_read_write = false,
       .occasion = StepOccasion::kAsked},
      {.step = steps::kFirstInsert, .sql = config.insert_lock, .token = TokenSource::kCommit},
      {.step = steps::kTakeoverInsert, .sql = config.insert_takeover},
      {.step = steps::kTakeoverUpdate,
       .sql = config.update_token,
       .token = TokenSource::kParameter},
      {.step = steps::kHeartbeatUpdate, .sql = config.update_heartbeat},
      {.step = steps::kHeartbeatDelete, .sql = config.delete_takeover_rows},
  };
}

constexpr StateTraits kStateTraits = {
    // TakeoverRowName
    .depends_on_absolute_time = true, .reads_ages = true, .orders_tokens_only = true,
    .ignores_wall_clock = true,       .memory_leases = 2,
};

}  // namespace

ProtocolInfo Info() {
  ProtocolInfo info = {
      .name = "spindle_v2",
      .summary =
          "spindle v2 (Go): INSERT wins, the commit timestamp is the token, heartbeats keep the "
          "lease",
      .create_table =
          "CREATE TABLE locktable (\n"
          "  name STRING(MAX) NOT NULL,\n"
          "  heartbeat TIMESTAMP OPTIONS (allow_commit_timestamp=true),\n"
          "  token TIMESTAMP OPTIONS (allow_commit_timestamp=true),\n"
          "  writer STRING(MAX),\n"
          ") PRIMARY KEY (name)",
      .columns = kColumns,
      .holder_columns = {.lock = "name",
                         .holder = "writer",
                         .since = "token",
                         .token = "token",
                         .renewed = "heartbeat",
                         .until = {},
                         .lease = {}},
      .init_lock = {},
      // Not a DELETE: without the row, only a process that starts can take the lock (S6).
      .force_release =
          "UPDATE locktable SET heartbeat = TIMESTAMP '1970-01-01T00:00:00Z' WHERE name = @name",
      .delete_lock = {},
      .steps = kSteps,
      .steps_without_commit = kStepsWithoutCommit,
      .steps_within_others = kStepsWithinOthers,
      .heartbeat_step = steps::kHeartbeatUpdate,
      .urgent_steps = kUrgentSteps,
      .promises = Promises(),
      .promise_limits = kPromiseLimits,
      .findings = kFindings,
      .impossible_goals = kImpossibleGoals,
      .page = "protocol/spindle_v2/README.md",
      .has_blocking_wrapper = true,
      .init_row = {},
      .lease_min = Seconds(1),
      .lease_default = Seconds(10),
      .lease_grace = Seconds(1),
      .retry_policy = GoRetryPolicy(),
      .make_config = MakeHosted,
      .statements = Statements,
  };
  info.state_traits = kStateTraits;
  info.make_grid_config = MakeHostedGrid;
  return info;
}

}  // namespace whorl::spindle_v2
