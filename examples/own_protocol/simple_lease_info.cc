#include "simple_lease_info.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "protocol/hosted.h"
#include "protocol/protocols.h"
#include "sim/scenario/add_protocol.h"
#include "simple_lease.h"

namespace simple_lease {
namespace {

using whorl::Duration;
using whorl::Invariant;
using whorl::StepName;
using whorl::Timestamp;

// --- what it is ----------------------------------------------------------------------------------

constexpr std::array<StepName, 5> kSteps = {steps::kLook, steps::kClaim, steps::kCreate,
                                            steps::kBeat, steps::kHandBack};
constexpr std::array<StepName, 1> kStepsWithoutCommit = {steps::kLook};
constexpr std::array<whorl::PromiseLimit, 4> kPromiseLimits = {
    {{Invariant::kHandedTokenMonotonic, whorl::Circumstance::kOperatorWrites},
     {Invariant::kHasLockTruthful, whorl::Circumstance::kOperatorWrites},
     {Invariant::kLeaseRespected, whorl::Circumstance::kOperatorWrites},
     {Invariant::kSingleLeaderBelief, whorl::Circumstance::kOperatorWrites}}};
constexpr std::array<whorl::ImpossibleGoal, 1> kImpossibleGoals = {
    {{.goal = "clock_stop_noticed", .why = "its processes do not compare their clocks"}}};
constexpr std::array<whorl::ColumnInfo, 4> kColumns = {{
    {.name = "name", .type = whorl::Type::kString, .key = true},
    {.name = "heartbeat", .type = whorl::Type::kTimestamp},
    {.name = "token", .type = whorl::Type::kTimestamp},
    {.name = "owner", .type = whorl::Type::kString},
}};

whorl::ProtocolInfo Info() {
  whorl::ProtocolInfo info;
  info.name = kName;
  info.summary =
      "an example: compare-and-set on a heartbeat that is a lease old by Spanner's clock";
  info.create_table =
      "CREATE TABLE locktable (\n"
      "  name STRING(MAX) NOT NULL,\n"
      "  heartbeat TIMESTAMP OPTIONS (allow_commit_timestamp=true),\n"
      "  token TIMESTAMP OPTIONS (allow_commit_timestamp=true),\n"
      "  owner STRING(MAX),\n"
      ") PRIMARY KEY (name)";
  info.columns = kColumns;
  info.holder_columns = {.lock = "name",
                         .holder = "owner",
                         .since = "token",
                         .token = "token",
                         .renewed = "heartbeat",
                         .until = {},
                         .lease = {}};
  info.steps = kSteps;
  info.heartbeat_step = steps::kBeat;
  info.steps_without_commit = kStepsWithoutCommit;
  info.promises.fill(whorl::Promise::kPromised);
  info.promises[static_cast<size_t>(whorl::Invariant::kSingleWorker)] =
      whorl::Promise::kNotPromised;
  info.promises[static_cast<size_t>(whorl::Invariant::kPacedCalls)] = whorl::Promise::kNotPromised;
  info.promise_limits = kPromiseLimits;
  info.impossible_goals = kImpossibleGoals;
  info.answers_locally = true;
  info.lease_min = kLeaseMin;
  info.lease_default = whorl::Seconds(10);
  info.retry_policy = whorl::OurRetryPolicy();
  info.make_config = [](const std::string& table, std::string lock_name, std::string id,
                        Duration lease) {
    return whorl::Hosted<State>(MakeConfig(table, std::move(lock_name), std::move(id), lease));
  };
  info.make_grid_config = [](const std::string& table, std::string lock_name, std::string id,
                             Duration lease) {
    Config config = MakeConfig(table, std::move(lock_name), std::move(id), lease);
    config.constants = GridConstants(config.lease);
    return whorl::Hosted<State>(std::move(config));
  };
  return info;
}

// --- how it is judged ----------------------------------------------------------------------------

// Written from the protocol's text and not with its code, so that a mistake in one shows in the
// other.
constexpr size_t kHeartbeatColumn = 1;
constexpr size_t kTokenColumn = 2;
constexpr size_t kOwnerColumn = 3;

// A lease and the margin since the last heartbeat, and a quarter of a lease until another process
// looks; a second for the margin, for CURRENT_TIMESTAMP, and for clocks that run slow.
Duration WedgeBound(Duration greatest_lease, Duration round_trip_p999) {
  return greatest_lease * 13 / 10 + whorl::Seconds(1) + round_trip_p999 * 4;
}

constexpr whorl::sim::Rules kRules = {
    .protocol = kName,
    .key_column = 0,
    .token_column = kTokenColumn,
    .owner_column = {},
    .renewing_step = {},
    .releasing_step = {},
    .locking_steps = {},  // its transactions are optimistic
    .lease_used = {.least = whorl::Seconds(1)},
    .lease_until = {.renewed = kHeartbeatColumn},
    .is_released = {.null_column = kOwnerColumn},
    .wedge_bound = WedgeBound,
    .least_lead_percent = 95,
    .calls_of_transaction = 2,
    .handover = {.gives_back = true, .poll_percent = 30, .settles = whorl::Seconds(2)}};

// No node's wall clock matters to it. What is not said here stays at "may not": machines may not be
// suspended, ids not shared, rows not deleted, leases not different.
constexpr whorl::sim::Assumptions kAssumptions = {
    .wall_clock_error_max = whorl::Seconds(3600),
    .current_timestamp_max = whorl::Milliseconds(200)};

}  // namespace

void Add() { whorl::sim::AddProtocol(Info(), kRules, kAssumptions); }

}  // namespace simple_lease
