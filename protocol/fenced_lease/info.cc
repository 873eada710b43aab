#include "protocol/fenced_lease/info.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "protocol/fenced_lease/fenced_lease.h"
#include "protocol/fenced_lease/words.h"
#include "protocol/hosted.h"

namespace whorl::fenced_lease {

ProtocolInfo Info() {
  static constexpr std::array<StepName, 5> kSteps = {steps::kRead, steps::kTake, steps::kCreate,
                                                     steps::kBeat, steps::kRelease};
  static constexpr std::array<StepName, 1> kStepsWithoutCommit = {steps::kRead};
  static constexpr std::array<StepName, 2> kUrgentSteps = {steps::kBeat, steps::kRelease};
  static constexpr std::array<PromiseLimit, 10> kPromiseLimits = {
      {{Invariant::kHasLockTruthful, Circumstance::kOperatorWrites},
       {Invariant::kLeaseRespected, Circumstance::kOperatorWrites},
       {Invariant::kSingleLeaderBelief, Circumstance::kRowReleased},
       {Invariant::kHandedTokenMonotonic, Circumstance::kRowReleased},
       {Invariant::kNoWedge, Circumstance::kRowEmptied},
       {Invariant::kSingleLeaderBelief, Circumstance::kOperatorWritesAmongLeases},
       {Invariant::kHandedTokenMonotonic, Circumstance::kOperatorWritesAmongLeases},
       {Invariant::kHasLockTruthful, Circumstance::kClockStands},
       {Invariant::kHandedTokenMonotonic, Circumstance::kClockStands},
       {Invariant::kSingleLeaderBelief, Circumstance::kClockStands}}};
  static constexpr std::array<ColumnInfo, 6> kColumns = {{
      {.name = "name", .type = Type::kString, .key = true},
      {.name = "heartbeat", .type = Type::kTimestamp},
      {.name = "token", .type = Type::kTimestamp},
      {.name = "writer", .type = Type::kString},
      {.name = "lease_ms", .type = Type::kInt64},
      {.name = "attempt", .type = Type::kString},
  }};
  ProtocolInfo info;
  info.name = "fenced_lease";
  info.summary =
      "ours: compare-and-set on the heartbeat, the grant's commit timestamp is the token, and a "
      "leader believes only as long as its own clock proves the lease";
  info.table = "fenced_locks";
  info.create_table =
      "CREATE TABLE fenced_locks (\n"
      "  name STRING(MAX) NOT NULL,\n"
      "  heartbeat TIMESTAMP OPTIONS (allow_commit_timestamp=true),\n"
      "  token TIMESTAMP OPTIONS (allow_commit_timestamp=true),\n"
      "  writer STRING(MAX),\n"
      "  lease_ms INT64,\n"
      "  attempt STRING(MAX),\n"
      ") PRIMARY KEY (name)";
  info.columns = kColumns;
  info.holder_columns = {.lock = "name",
                         .holder = "writer",
                         .since = "token",
                         .token = "token",
                         .renewed = "heartbeat",
                         .until = {},
                         .lease = "lease_ms"};
  info.init_lock =
      "INSERT INTO fenced_locks (name, heartbeat) VALUES (@name, PENDING_COMMIT_TIMESTAMP())";
  // The token stays, so that the next one is compared with it.
  info.force_release =
      "UPDATE fenced_locks SET heartbeat = PENDING_COMMIT_TIMESTAMP(), writer = NULL, attempt = "
      "NULL "
      "WHERE name = @name";
  // A process that has read the row takes it by its heartbeat: it finds none, and creates the row. The
  // new token is a later commit timestamp than the old one.
  info.delete_lock = "DELETE FROM fenced_locks WHERE name = @name AND heartbeat = @seen";
  info.steps = kSteps;
  info.steps_without_commit = kStepsWithoutCommit;
  info.heartbeat_step = steps::kBeat;
  info.urgent_steps = kUrgentSteps;
  info.page = "protocol/fenced_lease/README.md";
  info.promises.fill(Promise::kPromised);
  info.promises[static_cast<size_t>(Invariant::kSingleWorker)] = Promise::kNotPromised;
  info.promise_limits = kPromiseLimits;
  info.answers_locally = true;
  info.announces_releases = true;
  info.first_look_leases = 2;
  info.lease_min = kLeaseMin;
  info.lease_max = kLeaseMax;
  info.lease_default = Seconds(10);
  // At its first look it asks whether a heartbeat is two leases old.
  info.memory_leases = 2;
  info.retry_policy = OurRetryPolicy();
  info.ignores_wall_clock = true;
  info.make_config = [](const std::string& table, std::string lock_name, std::string id,
                        Duration lease) {
    return Hosted<State>(MakeConfig(table, std::move(lock_name), std::move(id), lease));
  };
  info.make_grid_config = [](const std::string& table, std::string lock_name, std::string id,
                             Duration lease) {
    Config config = MakeConfig(table, std::move(lock_name), std::move(id), lease);
    config.constants = GridConstants(config.lease);
    return Hosted<State>(std::move(config));
  };
  info.statements = [](const std::string& table) {
    const Config config = MakeConfig(table, "", "", kLeaseMin, {});
    return std::vector<StepStatement>{
        {.step = steps::kRead, .sql = config.read, .in_read_write = false},
        {.step = steps::kTake, .sql = config.take, .token = TokenSource::kCommit},
        {.step = steps::kCreate, .sql = config.create, .token = TokenSource::kCommit},
        {.step = steps::kBeat, .sql = config.beat},
        {.step = steps::kRelease, .sql = config.release},
    };
  };
  return info;
}

}  // namespace whorl::fenced_lease
