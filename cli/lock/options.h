// Reads the options of `whorl lock` from the command line.
#pragma once

#include <CLI/App.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/lock/work_limits.h"
#include "real_client/lock.h"
#include "sim/scenario/add_protocol.h"

namespace whorl::cli {

struct LockRequest {
  std::string database;  // projects/P/instances/I/databases/D
  std::string protocol = "fenced_lease";
  std::string database_role;
  std::string endpoint;                       // HOST:PORT; empty: Spanner's, or the emulator's
  std::string credentials_file;               // JSON
  std::string ca_file;                        // PEM
  real_client::ConnectionOptions connection;  // after Complete()
  std::string table;                          // empty: the protocol's usual name
  std::string id;                             // not empty after Complete()
  std::string value;                          // that others read with the lock
  std::optional<Duration> lease;
  real_client::MakeClient make_client = real_client::MakeGrpcClient;
  std::vector<std::string> names;
  bool json = false;
  std::string out;
  std::string metrics;  // HOST:PORT; empty: none
  bool metrics_per_lock = false;
  int32_t concurrency = real_client::LockClientOptions().concurrency;
  bool has_own_id = false;  // it was given by --id
  // exec, run:
  bool must_exist = false;
  // exec:
  std::vector<std::string> command;
  std::optional<Duration> wait;  // empty: as long as it takes
  bool no_wait = false;
  bool quiet = false;  // says nothing where another process holds the lock
  std::optional<Duration> kill_after;
  WorkLimitOptions limits;
  int conflict_code = 125;
  // run:
  static constexpr Duration kReleaseTimeout = Seconds(10);
  std::optional<Duration> release_timeout;
  // doctor:
  std::optional<Duration> measured;  // for how long
  // get:
  std::optional<Duration> held_within;
  // list, delete:
  real_client::ListRange range;
  std::optional<Duration> older_than;
  bool dry_run = false;
  // release:
  bool force = false;
  real_client::ReleaseTarget only;
  // init:
  bool is_new = false;
  bool create_database = false;
  std::string ddl_file;
  std::optional<std::string> stream;  // a change stream to be created; empty: by its usual name

  const ProtocolInfo& info() const { return *FindProtocol(protocol); }
  std::string TableName() const { return table.empty() ? std::string(info().table) : table; }
  std::string StreamName() const {
    return stream.value_or("").empty() ? TableName() + "_changes" : *stream;
  }
  Duration LeaseUsed() const {
    return std::max(lease.value_or(info().lease_default), info().lease_min);
  }
};

using SharedLockRequest = std::shared_ptr<LockRequest>;

// --database, --database-role, --endpoint, --credentials, --ca.
void AddDatabase(CLI::App& app, const SharedLockRequest& request);
// These, and --protocol, --table, --client.
void AddWhere(CLI::App& app, const SharedLockRequest& request);
// --lease, --id, --value, --must-exist, --concurrency, --metrics.
void AddWho(CLI::App& app, const SharedLockRequest& request);
void AddLease(CLI::App& app, const SharedLockRequest& request, const std::string& help);
// NAME, or NAME...
void AddName(CLI::App& app, const SharedLockRequest& request);
void AddNames(CLI::App& app, const SharedLockRequest& request, bool required);

// Adds an option for a duration of at least `min`.
void AddTime(CLI::App& app, const std::string& name, std::optional<Duration>& out, Duration min,
             const std::string& help);

// Fills in what was not given: the database by $WHORL_DATABASE, and an id. Returns what is wrong with
// the request; empty if nothing is.
std::string Complete(LockRequest& request);
// The same, and checks the table's name, for commands that send it to Spanner by themselves.
std::string CompleteWithTable(LockRequest& request);

// The time within which a command's calls to Spanner are answered.
constexpr Duration kCommandTimeout = Seconds(10);

// HOST:PORT, as the environment has it.
std::string EndpointOf(const LockRequest& request);
real_client::LockClientOptions ClientOptionsOf(const LockRequest& request);
real_client::LockOptions LockOptionsOf(const LockRequest& request, const std::string& name);

// "free at 2026-01-01T00:00:00.000000Z", of a lock whose row nobody may take before.
std::string FreeAt(Timestamp time);

// One sentence that says what went wrong and what can be done about it.
std::string Explain(const LockRequest& request, const Status& status);

}  // namespace whorl::cli
