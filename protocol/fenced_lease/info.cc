#include <array>
#include <string>
#include <utility>
#include <vector>

#include "protocol/fenced_lease/fenced_lease.h"
#include "protocol/fenced_lease/words.h"
#include "protocol/hosted.h"
#include "protocol/infos.h"

namespace whorl::fenced_lease {
namespace {

constexpr std::array<StepName, 5> kSteps = {steps::kRead, steps::kTake, steps::kCreate,
                                            steps::kBeat, steps::kRelease};
constexpr std::array<StepName, 1> kStepsWithoutCommit = {steps::kRead};
constexpr std::array<StepName, 2> kUrgentSteps = {steps::kBeat, steps::kRelease};
constexpr std::array<PromiseLimit, 13> kPromiseLimits = {
    {{Invariant::kHasLockTruthful, Circumstance::kOperatorWrites, VoidFor::kLongestLease},
     {Invariant::kLeaseRespected, Circumstance::kOperatorWrites, VoidFor::kLongestLease},
     {Invariant::kSingleLeaderBelief, Circumstance::kRowReleased, VoidFor::kLongestLease},
     {Invariant::kHandedTokenMonotonic, Circumstance::kRowReleased, VoidFor::kLongestLease},
     {Invariant::kNoWedge, Circumstance::kRowEmptied, VoidFor::kWhileItLasts},
     {Invariant::kSingleLeaderBelief, Circumstance::kOperatorWritesAmongLeases,
      VoidFor::kLongestLease},
     {Invariant::kHandedTokenMonotonic, Circumstance::kOperatorWritesAmongLeases,
      VoidFor::kLongestLease},
     {Invariant::kHasLockTruthful, Circumstance::kClockStands, VoidFor::kLongestLease},
     {Invariant::kHandedTokenMonotonic, Circumstance::kClockStands, VoidFor::kLongestLease},
     {Invariant::kSingleLeaderBelief, Circumstance::kClockStands, VoidFor::kLongestLease},
     // Who still believes does not look for a row that was given back.
     {Invariant::kPromptHandover, Circumstance::kRowReleased, VoidFor::kLongestLease},
     {Invariant::kPromptHandover, Circumstance::kOperatorWritesAmongLeases, VoidFor::kLongestLease},
     {Invariant::kPromptHandover, Circumstance::kClockStands, VoidFor::kLongestLease}}};
constexpr std::array<ColumnInfo, 6> kColumns = {{
    {.name = "name", .type = Type::kString, .key = true},
    {.name = "heartbeat", .type = Type::kTimestamp},
    {.name = "token", .type = Type::kTimestamp},
    {.name = "writer", .type = Type::kString},
    {.name = "lease_ms", .type = Type::kInt64},
    {.name = "attempt", .type = Type::kString},
}};

std::array<Promise, kCountOf<Invariant>> Promises() {
  std::array<Promise, kCountOf<Invariant>> promises{};
  promises.fill(Promise::kPromised);
  promises[static_cast<size_t>(Invariant::kSingleWorker)] = Promise::kNotPromised;
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
  const Config config = MakeConfig(table, "", "", kLeaseMin, {});
  return std::vector<StepStatement>{
      {.step = steps::kRead, .sql = config.read, .in_read_write = false},
      {.step = steps::kTake, .sql = config.take, .token = TokenSource::kCommit},
      {.step = steps::kCreate, .sql = config.create, .token = TokenSource::kCommit},
      {.step = steps::kBeat, .sql = config.beat},
      {.step = steps::kRelease, .sql = config.release},
  };
}

constexpr StateTraits kStateTraits = {
    .ignores_wall_clock = true,
    // At its first look it asks whether a heartbeat is two leases old.
    .memory_leases = 2,
};

}  // namespace

ProtocolInfo Info() {
  ProtocolInfo info = {
      .name = "fenced_lease",
      .summary =
          "ours: compare-and-set on the heartbeat, the grant's commit timestamp is the token, and "
          "a leader believes only as long as its own clock proves the lease",
      .table = "fenced_locks",
      .create_table =
          "CREATE TABLE fenced_locks (\n"
          "  name STRING(MAX) NOT NULL,\n"
          "  heartbeat TIMESTAMP OPTIONS (allow_commit_timestamp=true),\n"
          "  token TIMESTAMP OPTIONS (allow_commit_timestamp=true),\n"
          "  writer STRING(MAX),\n"
          "  lease_ms INT64,\n"
          "  attempt STRING(MAX),\n"
          ") PRIMARY KEY (name)",
      .columns = kColumns,
      .holder_columns = {.lock = "name",
                         .holder = "writer",
                         .since = "token",
                         .token = "token",
                         .renewed = "heartbeat",
                         .until = {},
                         .lease = "lease_ms"},
      .init_lock =
          "INSERT INTO fenced_locks (name, heartbeat) VALUES (@name, PENDING_COMMIT_TIMESTAMP())",
      // The token stays, so that the next one is compared with it.
      .force_release =
          "UPDATE fenced_locks SET heartbeat = PENDING_COMMIT_TIMESTAMP(), writer = NULL, attempt "
          "= NULL WHERE name = @name",
      // A process that has read the row takes it by its heartbeat: it finds none, and creates the row. The
      // new token is a later commit timestamp than the old one.
      .delete_lock = "DELETE FROM fenced_locks WHERE name = @name AND heartbeat = @seen",
      .steps = kSteps,
      .steps_without_commit = kStepsWithoutCommit,
      .steps_within_others = {},
      .heartbeat_step = steps::kBeat,
      .urgent_steps = kUrgentSteps,
      .promises = Promises(),
      .promise_limits = kPromiseLimits,
      .findings = {},
      .impossible_goals = {},
      .page = "protocol/fenced_lease/README.md",
      .answers_locally = true,
      .announces_releases = true,
      .first_look_leases = 2,
      .init_row = {},
      .lease_min = kLeaseMin,
      .lease_max = kLeaseMax,
      .lease_default = Seconds(10),
      .lease_grace = {},
      .retry_policy = OurRetryPolicy(),
      .make_config = MakeHosted,
      .statements = Statements,
  };
  info.state_traits = kStateTraits;
  info.make_grid_config = MakeHostedGrid;
  return info;
}

}  // namespace whorl::fenced_lease
