#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/hosted.h"
#include "protocol/infos.h"
#include "protocol/semaphore/semaphore.h"
#include "protocol/semaphore/words.h"

namespace whorl::semaphore {
namespace {

constexpr std::array<StepName, 2> kSteps = {steps::kUpdate, steps::kQuery};
constexpr std::array<StepName, 1> kStepsWithoutCommit = {steps::kQuery};
// Without the row no service can hold the lock.
constexpr std::array<PromiseLimit, 2> kPromiseLimits = {
    {{Invariant::kNoWedge, Circumstance::kOperatorWrites, VoidFor::kWhileItLasts},
     {Invariant::kHasLockTruthful, Circumstance::kIdsOutliveRestarts, VoidFor::kLongestLease}}};
constexpr std::array<ColumnInfo, 3> kColumns = {{
    {.name = "anchor", .type = Type::kInt64, .key = true},
    {.name = "service_id", .type = Type::kString},
    {.name = "last_seen_active", .type = Type::kTimestamp},
}};
constexpr std::array<Invariant, 3> kBreaksM1 = {
    Invariant::kLeaseRespected,
    Invariant::kHasLockTruthful,
    Invariant::kSingleLeaderBelief,
};
constexpr std::array<Invariant, 1> kBreaksSingleLeaderBelief = {
    Invariant::kSingleLeaderBelief,
};
constexpr std::array<Invariant, 1> kBreaksNoWedge = {Invariant::kNoWedge};
constexpr std::array<Invariant, 1> kBreaksReasonedStepDown = {Invariant::kReasonedStepDown};
constexpr std::array<KnownFinding, 7> kFindings = {{
    {.id = "M1", .breaks = kBreaksM1, .needs = Circumstance::kIdsShared},
    {.id = "M2", .breaks = kBreaksSingleLeaderBelief, .needs = std::nullopt},
    {.id = "M3", .breaks = kBreaksSingleLeaderBelief, .needs = std::nullopt},
    {.id = "M4", .breaks = kBreaksNoWedge, .needs = Circumstance::kCurrentTimestampOff},
    {.id = "M5", .breaks = kBreaksNoWedge, .needs = Circumstance::kOperatorWrites},
    {.id = "M6", .breaks = kBreaksSingleLeaderBelief, .needs = std::nullopt},
    {.id = "M7", .breaks = kBreaksReasonedStepDown, .needs = std::nullopt},
}};
constexpr std::array<ImpossibleGoal, 2> kImpossibleGoals = {{
    {.goal = "release", .why = "it never gives a lock back"},
    {.goal = "clock_stop_noticed", .why = "its processes do not compare their clocks"},
}};

std::array<Promise, kCountOf<Invariant>> Promises() {
  std::array<Promise, kCountOf<Invariant>> promises{};
  promises.fill(Promise::kNotApplicable);
  for (const Invariant invariant :
       {Invariant::kHasLockTruthful, Invariant::kLeaseRespected, Invariant::kIsolation,
        Invariant::kNoWedge, Invariant::kToldOfLeadership, Invariant::kAnsweredInTime}) {
    promises[static_cast<size_t>(invariant)] = Promise::kPromised;
  }
  promises[static_cast<size_t>(Invariant::kSingleLeaderBelief)] = Promise::kNotPromised;
  promises[static_cast<size_t>(Invariant::kSingleWorker)] = Promise::kNotPromised;
  promises[static_cast<size_t>(Invariant::kPacedCalls)] = Promise::kNotPromised;
  promises[static_cast<size_t>(Invariant::kReasonedStepDown)] = Promise::kNotPromised;
  return promises;
}

ProtocolConfig MakeHosted(const std::string& table, std::string lock_name, std::string id,
                          Duration lease) {
  return Hosted<State>(MakeConfig(table, std::move(lock_name), std::move(id), lease));
}

ProtocolConfig MakeHostedGrid(const std::string& table, std::string lock_name, std::string id,
                              Duration lease) {
  Config config = MakeConfig(table, std::move(lock_name), std::move(id), lease);
  config.constants = GridConstants(config.timeout);
  return Hosted<State>(std::move(config));
}

std::vector<StepStatement> Statements(const std::string& table) {
  const Config config = MakeConfig(table, "", "", Seconds(1));
  return std::vector<StepStatement>{
      {.step = steps::kUpdate, .sql = config.update},
      {.step = steps::kQuery, .sql = config.query, .in_read_write = false},
      {.step = whorl::steps::kHasLock,
       .sql = config.query,
       .in_read_write = false,
       .occasion = StepOccasion::kAsked},
  };
}

constexpr StateTraits kStateTraits = {
    .ignores_wall_clock = true,
    .memory_leases = 2,
};

}  // namespace

ProtocolInfo Info() {
  ProtocolInfo info = {
      .name = "semaphore",
      .summary =
          "a semaphore from an article: every second each service renews the one row, or takes it "
          "when its holder was not seen for the timeout, and asks who leads",
      .table = "LeaderElection",
      .create_table =
          "CREATE TABLE LeaderElection (\n"
          "  anchor INT64 NOT NULL,\n"
          "  service_id STRING(MAX),\n"
          "  last_seen_active TIMESTAMP,\n"
          ") PRIMARY KEY (anchor)",
      .columns = kColumns,
      .holder_columns = {.lock = {},
                         .holder = "service_id",
                         .since = {},
                         .token = {},
                         .renewed = "last_seen_active",
                         .until = {},
                         .lease = {}},
      .init_lock = {},
      .force_release =
          "UPDATE LeaderElection SET last_seen_active = TIMESTAMP '1970-01-01T00:00:00Z' WHERE "
          "anchor = 1",
      .delete_lock = {},
      .steps = kSteps,
      .steps_without_commit = kStepsWithoutCommit,
      .steps_within_others = {},
      .heartbeat_step = steps::kUpdate,
      .urgent_steps = {},
      .promises = Promises(),
      .promise_limits = kPromiseLimits,
      .findings = kFindings,
      .impossible_goals = kImpossibleGoals,
      .page = "protocol/semaphore/README.md",
      .has_tokens = false,
      .takes_one_lock = true,
      .init_row = InitRow(),
      .lease_min = kTimeoutMin,
      .refuses_short_lease = true,
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

}  // namespace whorl::semaphore
