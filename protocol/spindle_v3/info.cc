#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/hosted.h"
#include "protocol/infos.h"
#include "protocol/spindle_v3/spindle_v3.h"
#include "protocol/spindle_v3/words.h"

namespace whorl::spindle_v3 {
namespace {

constexpr std::array<StepName, 4> kSteps = {steps::kLook, steps::kAcquire, steps::kHeartbeat,
                                            steps::kRelease};
constexpr std::array<StepName, 1> kStepsWithoutCommit = {steps::kLook};
constexpr std::array<StepName, 2> kUrgentSteps = {steps::kHeartbeat, steps::kRelease};
constexpr std::array<ColumnInfo, 3> kColumns = {{
    {.name = "name", .type = Type::kString, .key = true},
    {.name = "token", .type = Type::kTimestamp},
    {.name = "owner", .type = Type::kString},
}};
constexpr std::array<PromiseLimit, 3> kPromiseLimits = {
    {{Invariant::kLeaseRespected, Circumstance::kLeasesDiffer, VoidFor::kDifferenceOfLeases},
     {Invariant::kLeaseRespected, Circumstance::kIdsShared},
     {Invariant::kLeaseRespected, Circumstance::kCurrentTimestampOff, VoidFor::kErrorOfClock}}};
constexpr std::array<Invariant, 3> kBreaksV1 = {
    Invariant::kSingleLeaderBelief,
    Invariant::kHasLockTruthful,
    Invariant::kHandedTokenMonotonic,
};
constexpr std::array<Invariant, 4> kBreaksV4 = {
    Invariant::kLeaseRespected,
    Invariant::kSingleLeaderBelief,
    Invariant::kHasLockTruthful,
    Invariant::kHandedTokenMonotonic,
};
constexpr std::array<Invariant, 1> kBreaksNoWorkAfterRelease = {
    Invariant::kNoWorkAfterRelease,
};
constexpr std::array<Invariant, 1> kBreaksReasonedStepDown = {Invariant::kReasonedStepDown};
constexpr std::array<KnownFinding, 7> kFindings = {{
    {.id = "V1", .breaks = kBreaksV1, .needs = std::nullopt},
    {.id = "V2", .breaks = kBreaksV1, .needs = std::nullopt},
    {.id = "V3", .breaks = kBreaksReasonedStepDown, .needs = std::nullopt},
    {.id = "V4", .breaks = kBreaksV4, .needs = Circumstance::kIdsShared},
    {.id = "V6", .breaks = kBreaksNoWorkAfterRelease, .needs = std::nullopt},
    {.id = "V7", .breaks = kBreaksV4, .needs = Circumstance::kLeasesDiffer},
    {.id = "V8", .breaks = kBreaksV1, .needs = Circumstance::kOperatorWrites},
}};
constexpr std::array<ImpossibleGoal, 1> kImpossibleGoals = {{
    {.goal = "clock_stop_noticed", .why = "its processes do not compare their clocks"},
}};

std::array<Promise, kCountOf<Invariant>> Promises() {
  std::array<Promise, kCountOf<Invariant>> promises{};
  promises.fill(Promise::kNotPromised);
  for (const Invariant invariant :
       {Invariant::kOneLiveToken, Invariant::kTokenMonotonic, Invariant::kFencedWritesOrdered,
        Invariant::kIsolation, Invariant::kNoWedge, Invariant::kLeaseRespected,
        Invariant::kToldOfLeadership, Invariant::kAnsweredInTime, Invariant::kPromptHandover}) {
    promises[static_cast<size_t>(invariant)] = Promise::kPromised;
  }
  return promises;
}

ProtocolConfig MakeHosted(const std::string& table, std::string lock_name, std::string id,
                          Duration lease) {
  return Hosted<State>(MakeConfig(table, std::move(lock_name), std::move(id), lease));
}

ProtocolConfig MakeHostedGrid(const std::string& table, std::string lock_name, std::string id,
                              Duration lease) {
  Config config = MakeConfig(table, std::move(lock_name), std::move(id), lease);
  config.constants = GridConstants(config.lease);
  return Hosted<State>(std::move(config));
}

std::vector<StepStatement> Statements(const std::string& table) {
  const Config config = MakeConfig(table, "", "", kLeaseMin);
  return std::vector<StepStatement>{
      {.step = steps::kLook, .sql = config.look, .in_read_write = false},
      {.step = steps::kAcquire, .sql = config.look, .token = TokenSource::kCommit},
      {.step = steps::kHeartbeat, .sql = config.heartbeat, .token = TokenSource::kCommit},
      {.step = steps::kRelease, .sql = config.release},
  };
}

constexpr StateTraits kStateTraits = {
    .ignores_wall_clock = true,
    .memory_leases = 2,
};

}  // namespace

ProtocolInfo Info() {
  ProtocolInfo info = {
      .name = "spindle_v3",
      .summary =
          "spindle v3 (Go): a read-test-write transaction takes the lock, the token is fence and "
          "heartbeat at once, and a leader steps down by its own clock",
      .table = "spindle_v3_locks",
      .create_table =
          "CREATE TABLE spindle_v3_locks (\n"
          "  name STRING(MAX) NOT NULL,\n"
          "  token TIMESTAMP OPTIONS (allow_commit_timestamp=true),\n"
          "  owner STRING(MAX),\n"
          ") PRIMARY KEY (name)",
      .columns = kColumns,
      .holder_columns = {.lock = "name",
                         .holder = "owner",
                         .since = {},
                         .token = "token",
                         .renewed = "token",
                         .until = {},
                         .lease = {}},
      .init_lock = {},
      .force_release = "DELETE FROM spindle_v3_locks WHERE name = @name",
      .delete_lock = {},
      .steps = kSteps,
      .steps_without_commit = kStepsWithoutCommit,
      .steps_within_others = {},
      .heartbeat_step = steps::kHeartbeat,
      .urgent_steps = kUrgentSteps,
      .promises = Promises(),
      .promise_limits = kPromiseLimits,
      .findings = kFindings,
      .impossible_goals = kImpossibleGoals,
      .page = "protocol/spindle_v3/README.md",
      .answers_locally = true,
      .init_row = {},
      .lease_min = kLeaseMin,
      .lease_default = Seconds(10),
      .lease_grace = {},
      .retry_policy = GoRetryPolicy(),
      .make_config = MakeHosted,
      .statements = Statements,
  };
  info.state_traits = kStateTraits;
  info.make_grid_config = MakeHostedGrid;
  return info;
}

}  // namespace whorl::spindle_v3
