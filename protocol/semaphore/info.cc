#include "protocol/semaphore/info.h"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/hosted.h"
#include "protocol/semaphore/semaphore.h"
#include "protocol/semaphore/words.h"

namespace whorl::semaphore {

ProtocolInfo Info() {
  static constexpr std::array<StepName, 2> kSteps = {steps::kUpdate, steps::kQuery};
  static constexpr std::array<StepName, 1> kStepsWithoutCommit = {steps::kQuery};
  // Without the row no service can hold the lock.
  static constexpr std::array<PromiseLimit, 2> kPromiseLimits = {
      {{Invariant::kNoWedge, Circumstance::kOperatorWrites},
       {Invariant::kHasLockTruthful, Circumstance::kIdsOutliveRestarts}}};
  static constexpr std::array<ColumnInfo, 3> kColumns = {{
      {.name = "anchor", .type = Type::kInt64, .key = true},
      {.name = "service_id", .type = Type::kString},
      {.name = "last_seen_active", .type = Type::kTimestamp},
  }};
  static constexpr std::array<Invariant, 3> kBreaksM1 = {
      Invariant::kLeaseRespected,
      Invariant::kHasLockTruthful,
      Invariant::kSingleLeaderBelief,
  };
  static constexpr std::array<Invariant, 1> kBreaksSingleLeaderBelief = {
      Invariant::kSingleLeaderBelief,
  };
  static constexpr std::array<Invariant, 1> kBreaksNoWedge = {Invariant::kNoWedge};
  static constexpr std::array<KnownFinding, 6> kFindings = {{
      {.id = "M1", .breaks = kBreaksM1, .needs = Circumstance::kIdsShared},
      {.id = "M2", .breaks = kBreaksSingleLeaderBelief, .needs = std::nullopt},
      {.id = "M3", .breaks = kBreaksSingleLeaderBelief, .needs = std::nullopt},
      {.id = "M4", .breaks = kBreaksNoWedge, .needs = Circumstance::kCurrentTimestampOff},
      {.id = "M5", .breaks = kBreaksNoWedge, .needs = Circumstance::kOperatorWrites},
      {.id = "M6", .breaks = kBreaksSingleLeaderBelief, .needs = std::nullopt},
  }};
  static constexpr std::array<ImpossibleGoal, 2> kImpossibleGoals = {{
      {.goal = "release", .why = "it never gives a lock back"},
      {.goal = "clock_stop_noticed", .why = "its processes do not compare their clocks"},
  }};
  ProtocolInfo info;
  info.name = "semaphore";
  info.summary =
      "a semaphore from an article: every second each service renews the one row, or takes it when "
      "its holder was not seen for the timeout, and asks who leads";
  info.create_table =
      "CREATE TABLE LeaderElection (\n"
      "  anchor INT64 NOT NULL,\n"
      "  service_id STRING(MAX),\n"
      "  last_seen_active TIMESTAMP,\n"
      ") PRIMARY KEY (anchor)";
  info.columns = kColumns;
  info.table = "LeaderElection";
  info.holder_columns = {.lock = {},
                         .holder = "service_id",
                         .since = {},
                         .token = {},
                         .renewed = "last_seen_active",
                         .until = {},
                         .lease = {}};
  info.force_release =
      "UPDATE LeaderElection SET last_seen_active = TIMESTAMP '1970-01-01T00:00:00Z' "
      "WHERE anchor = 1";
  info.steps = kSteps;
  info.heartbeat_step = steps::kUpdate;
  info.steps_without_commit = kStepsWithoutCommit;
  info.findings = kFindings;
  info.impossible_goals = kImpossibleGoals;
  info.page = "protocol/semaphore/README.md";
  info.promises.fill(Promise::kNotApplicable);
  for (const Invariant invariant : {Invariant::kHasLockTruthful, Invariant::kLeaseRespected,
                                    Invariant::kIsolation, Invariant::kNoWedge}) {
    info.promises[static_cast<size_t>(invariant)] = Promise::kPromised;
  }
  info.promises[static_cast<size_t>(Invariant::kSingleLeaderBelief)] = Promise::kNotPromised;
  info.promises[static_cast<size_t>(Invariant::kSingleWorker)] = Promise::kNotPromised;
  info.promises[static_cast<size_t>(Invariant::kPacedCalls)] = Promise::kNotPromised;
  info.promise_limits = kPromiseLimits;
  info.has_tokens = false;
  info.takes_one_lock = true;
  info.init_row = InitRow();
  info.lease_min = kTimeoutMin;
  info.refuses_short_lease = true;
  info.lease_default = Seconds(10);
  info.memory_leases = 2;
  info.retry_policy = GoRetryPolicy();
  info.ignores_wall_clock = true;
  info.make_config = [](const std::string& table, std::string lock_name, std::string id,
                        Duration lease) {
    return Hosted<State>(MakeConfig(table, std::move(lock_name), std::move(id), lease));
  };
  info.make_grid_config = [](const std::string& table, std::string lock_name, std::string id,
                             Duration lease) {
    Config config = MakeConfig(table, std::move(lock_name), std::move(id), lease);
    config.constants = GridConstants(config.timeout);
    return Hosted<State>(std::move(config));
  };
  info.statements = [](const std::string& table) {
    const Config config = MakeConfig(table, "", "", Seconds(1));
    return std::vector<StepStatement>{
        {.step = steps::kUpdate, .sql = config.update},
        {.step = steps::kQuery, .sql = config.query, .in_read_write = false},
        {.step = whorl::steps::kHasLock,
         .sql = config.query,
         .in_read_write = false,
         .occasion = StepOccasion::kAsked},
    };
  };
  return info;
}

}  // namespace whorl::semaphore
