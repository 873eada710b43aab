#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/hosted.h"
#include "protocol/infos.h"
#include "protocol/lease_lock/lease_lock.h"
#include "protocol/lease_lock/locker.h"
#include "protocol/lease_lock/words.h"

namespace whorl::lease_lock {
namespace {

constexpr std::array<StepName, 4> kSteps = {steps::kAcquire, steps::kHeartbeat, steps::kRelease,
                                            steps::kGet};
constexpr std::array<StepName, 1> kStepsWithoutCommit = {steps::kGet};
constexpr std::array<StepName, 2> kUrgentSteps = {steps::kHeartbeat, steps::kRelease};
constexpr std::array<PromiseLimit, 1> kPromiseLimits = {
    {{Invariant::kHasLockTruthful, Circumstance::kOperatorWrites, VoidFor::kLongestLease}}};
constexpr std::array<ColumnInfo, 5> kColumns = {{
    {.name = "key", .type = Type::kString, .key = true},
    {.name = "owner", .type = Type::kString},
    {.name = "leased_until", .type = Type::kTimestamp},
    {.name = "created_at", .type = Type::kTimestamp},
    {.name = "ttl", .type = Type::kTimestamp},
}};
constexpr std::array<Invariant, 3> kBreaksL1 = {
    Invariant::kLeaseRespected,
    Invariant::kSingleLeaderBelief,
    Invariant::kHasLockTruthful,
};
constexpr std::array<Invariant, 2> kBreaksL4 = {
    Invariant::kSingleLeaderBelief,
    Invariant::kHasLockTruthful,
};
constexpr std::array<Invariant, 1> kBreaksL8 = {Invariant::kToldOfLeadership};
constexpr std::array<Invariant, 1> kBreaksL9 = {Invariant::kReasonedStepDown};
constexpr std::array<KnownFinding, 8> kFindings = {{
    {.id = "L1", .breaks = kBreaksL1, .needs = std::nullopt},
    {.id = "L2", .breaks = kBreaksL1, .needs = std::nullopt},
    {.id = "L3", .breaks = kBreaksL1, .needs = Circumstance::kIdsShared},
    {.id = "L4", .breaks = kBreaksL4, .needs = std::nullopt},
    {.id = "L5", .breaks = kBreaksL4, .needs = Circumstance::kClockStands},
    {.id = "L7", .breaks = kBreaksL4, .needs = Circumstance::kOperatorWrites},
    {.id = "L8", .breaks = kBreaksL8, .needs = std::nullopt},
    {.id = "L9", .breaks = kBreaksL9, .needs = std::nullopt},
}};
constexpr std::array<ImpossibleGoal, 1> kImpossibleGoals = {{
    {.goal = "clock_stop_noticed", .why = "its processes do not compare their clocks"},
}};

std::array<Promise, kCountOf<Invariant>> Promises() {
  std::array<Promise, kCountOf<Invariant>> promises{};
  promises.fill(Promise::kNotApplicable);
  for (const Invariant invariant :
       {Invariant::kHasLockTruthful, Invariant::kLeaseRespected, Invariant::kIsolation,
        Invariant::kNoWedge, Invariant::kNoWorkAfterRelease, Invariant::kAnsweredInTime}) {
    promises[static_cast<size_t>(invariant)] = Promise::kPromised;
  }
  for (const Invariant invariant :
       {Invariant::kSingleLeaderBelief, Invariant::kSingleWorker, Invariant::kPacedCalls,
        Invariant::kToldOfLeadership, Invariant::kReasonedStepDown, Invariant::kPromptHandover}) {
    promises[static_cast<size_t>(invariant)] = Promise::kNotPromised;
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
  config.constants = GridConstants();
  config.locker.constants.grace = config.lease;
  // No step asks about the ttl. Days ahead, it would tell states apart by nothing but how long the row has been there.
  config.locker.constants.kept_after = {};
  return Hosted<State>(std::move(config));
}

std::vector<StepStatement> Statements(const std::string& table) {
  const Locker locker = NewLocker(table);
  return std::vector<StepStatement>{
      {.step = steps::kAcquire, .sql = locker.test},
      {.step = steps::kRelease, .sql = locker.test, .occasion = StepOccasion::kGivesUp},
      {.step = steps::kHeartbeat, .sql = locker.heartbeat},
      {.step = steps::kGet, .sql = locker.get, .in_read_write = false},
  };
}

constexpr StateTraits kStateTraits = {
    // The time by which it asks whether a lease is over is that of its call, which may have waited for a lost
    // answer, and then for its next attempt.
    .memory_leases = 3,
};

}  // namespace

ProtocolInfo Info() {
  ProtocolInfo info = {
      .name = "lease_lock",
      .summary =
          "Clever's Locker (Go), on a Spanner table: the row says until when it is leased, and "
          "every client judges that by its own wall clock, with five seconds of grace",
      .table = "lease_locks",
      .create_table =
          "CREATE TABLE lease_locks (\n"
          "  key STRING(MAX) NOT NULL,\n"
          "  owner STRING(MAX),\n"
          "  leased_until TIMESTAMP,\n"
          "  created_at TIMESTAMP,\n"
          "  ttl TIMESTAMP,\n"
          ") PRIMARY KEY (key)",
      .columns = kColumns,
      .holder_columns = {.lock = "key",
                         .holder = "owner",
                         .since = {},
                         .token = {},
                         .renewed = {},
                         .until = "leased_until",
                         .lease = {}},
      .init_lock = {},
      .force_release = "DELETE FROM lease_locks WHERE key = @name",
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
      .page = "protocol/lease_lock/README.md",
      .answers_locally = true,
      .has_tokens = false,
      .init_row = {},
      .lease_min = kLeaseMin,
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

}  // namespace whorl::lease_lock
