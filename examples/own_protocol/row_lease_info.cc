#include "row_lease_info.h"

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "protocol/hosted.h"
#include "protocol/protocols.h"
#include "row_lease.h"
#include "sim/scenario/add_protocol.h"

namespace row_lease {
namespace {

using whorl::Duration;
using whorl::Invariant;
using whorl::Promise;
using whorl::StepName;

// --- what it is ----------------------------------------------------------------------------------

constexpr std::array<StepName, 3> kSteps = {steps::kClaim, steps::kRenew, steps::kHandBack};
constexpr std::array<whorl::PromiseLimit, 3> kPromiseLimits = {
    {{Invariant::kHasLockTruthful, whorl::Circumstance::kOperatorWrites},
     {Invariant::kLeaseRespected, whorl::Circumstance::kOperatorWrites},
     {Invariant::kSingleLeaderBelief, whorl::Circumstance::kOperatorWrites}}};
constexpr std::array<whorl::ImpossibleGoal, 1> kImpossibleGoals = {
    {{.goal = "clock_stop_noticed", .why = "its processes do not compare their clocks"}}};
constexpr std::array<whorl::ColumnInfo, 3> kColumns = {{
    {.name = "name", .type = whorl::Type::kString, .key = true},
    {.name = "owner", .type = whorl::Type::kString},
    {.name = "until", .type = whorl::Type::kTimestamp},
}};

std::array<Promise, whorl::kCountOf<Invariant>> Promises() {
  std::array<Promise, whorl::kCountOf<Invariant>> promises{};
  promises.fill(Promise::kPromised);
  // It has no tokens.
  for (const Invariant invariant :
       {Invariant::kOneLiveToken, Invariant::kTokenMonotonic, Invariant::kHandedTokenMonotonic,
        Invariant::kFencedWritesOrdered}) {
    promises[static_cast<size_t>(invariant)] = Promise::kNotApplicable;
  }
  // Work goes on until the application has heard that the lease is lost.
  promises[static_cast<size_t>(Invariant::kSingleWorker)] = Promise::kNotPromised;
  // The client repeats a claim that was aborted, with two statements each time: one run of thousands
  // had 65 calls in a second, where 64 are paced.
  promises[static_cast<size_t>(Invariant::kPacedCalls)] = Promise::kNotPromised;
  return promises;
}

whorl::ProtocolInfo Info() {
  whorl::ProtocolInfo info;
  info.name = kName;
  info.summary = "an example without tokens: the row says who has the lock, and until when";
  info.create_table =
      "CREATE TABLE locktable (\n"
      "  name STRING(MAX) NOT NULL,\n"
      "  owner STRING(MAX),\n"
      "  until TIMESTAMP,\n"
      ") PRIMARY KEY (name)";
  info.columns = kColumns;
  info.holder_columns = {.lock = "name",
                         .holder = "owner",
                         .since = {},
                         .token = {},
                         .renewed = {},
                         .until = "until",
                         .lease = {}};
  info.steps = kSteps;
  info.heartbeat_step = steps::kRenew;
  info.promises = Promises();
  info.promise_limits = kPromiseLimits;
  info.impossible_goals = kImpossibleGoals;
  info.answers_locally = true;
  info.has_tokens = false;
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
constexpr size_t kOwnerColumn = 1;
constexpr size_t kUntilColumn = 2;

// A lease and the margin since the last renewal, and a quarter of a lease until another process
// claims; a second for the margin, for CURRENT_TIMESTAMP twice, and for clocks that run slow.
Duration WedgeBound(Duration greatest_lease, Duration round_trip_p999) {
  return greatest_lease * 13 / 10 + whorl::Seconds(1) + round_trip_p999 * 4;
}

constexpr whorl::sim::Rules kRules = {
    .protocol = kName,
    .key_column = 0,
    .token_column = {},
    .owner_column = kOwnerColumn,
    .renewing_step = steps::kRenew,
    .releasing_step = steps::kHandBack,
    .locking_steps = {},  // its transactions are optimistic
    .lease_used = {.unit = whorl::Milliseconds(1), .least = whorl::Seconds(1)},
    .lease_until = {.until = kUntilColumn},
    .is_released = {.null_column = kOwnerColumn},
    .wedge_bound = WedgeBound,
    .least_lead_percent = 95,
    .calls_of_transaction = 3,
    .handover = {.gives_back = true, .poll_percent = 30, .settles = whorl::Seconds(2)}};

// No node's wall clock matters to it. What is not said here stays at "may not": machines may not be
// suspended, ids not shared, rows not deleted, leases not different.
constexpr whorl::sim::Assumptions kAssumptions = {
    .wall_clock_error_max = whorl::Seconds(3600),
    .current_timestamp_max = whorl::Milliseconds(200)};

}  // namespace

void Add() { whorl::sim::AddProtocol(Info(), kRules, kAssumptions); }

}  // namespace row_lease
