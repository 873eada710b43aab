// The protocols by name: what each is, which steps it has and what it promises, and how to run it.
#pragma once

#include <array>
#include <deque>
#include <span>
#include <string>
#include <string_view>

#include "protocol/client/transaction_runner.h"
#include "protocol/names.h"
#include "protocol/protocol.h"
#include "protocol/spanner/mutation.h"
#include "protocol/spanner/time.h"
#include "protocol/spanner/value.h"

namespace whorl {

enum class Promise : uint8_t {
  kPromised,
  kNotPromised,
  kNotApplicable,  // there is no token that it could be said of
};
constexpr auto WordTableOf(Promise) {
  return MakeWordTable<Promise>({
      {Promise::kPromised, "promised"},
      {Promise::kNotPromised, "not_promised"},
      {Promise::kNotApplicable, "not_applicable"},
  });
}

// A column of the protocol's table, as `create_table` declares it.
struct ColumnInfo {
  std::string_view name;
  Type type = Type::kString;
  bool key = false;  // part of the primary key
};

// Which columns of a lock's row say who holds it, for people who ask the table; empty: none does.
struct HolderColumns {
  std::string_view lock;     // STRING; empty: the table has room for one lock only
  std::string_view holder;   // STRING; NULL: nobody
  std::string_view since;    // TIMESTAMP: of the grant
  std::string_view token;    // TIMESTAMP
  std::string_view renewed;  // TIMESTAMP: the last sign of life
  std::string_view until;    // TIMESTAMP: the end of the lease; instead of `renewed`
  std::string_view lease;    // INT64, ms; empty or NULL: each observer judges by a lease of its own
};

// What its texts and spans point to lives as long as the program.
struct ProtocolInfo {
  std::string_view name;
  std::string_view summary;  // one line, for `whorl protocols`
  // What its table is called unless the user says otherwise. The texts below name the table so.
  std::string_view table = "locktable";
  std::string_view create_table;  // DDL of its table
  std::span<const ColumnInfo> columns;
  HolderColumns holder_columns;
  // DML with @name that makes the lock's row as if it had been released; empty: starts need none.
  std::string_view init_lock;
  // DML with @name by which an operator ends whatever lease there is; empty: there is no such way.
  std::string_view force_release;
  std::span<const StepName> steps;  // its own, without has_lock and write
  // Those of `steps` that have no commit of their own: reads, and statements within another step.
  std::span<const StepName> steps_without_commit;
  std::array<Promise, kCountOf<Invariant>> promises{};
  // Those of the promises that do not cover an operator who deletes a row.
  std::span<const Invariant> not_with_delete_row;
  // HasLock is answered from what the process knows, without a call to Spanner.
  bool answers_locally = false;
  bool has_blocking_wrapper = false;  // Lock() and Unlock()
  bool has_tokens = true;             // a resource can fence by what is handed out
  bool takes_one_lock = false;        // its table has room for no other
  // It asks for its releases to be announced (AnnounceRelease), and looks when it hears of one.
  bool announces_releases = false;
  // The row that its `init` leaves, without which nobody can ever hold the lock; empty where a
  // process makes the row.
  Row init_row;
  Duration lease_min;                    // a smaller one is raised to it, or refused:
  bool refuses_short_lease = false;      // as an error of configuration
  Duration lease_max = Duration::Max();  // a greater one is refused
  Duration lease_default;
  // How much older than a lease a sign of life may be before others take the lock.
  Duration lease_grace;
  RetryPolicy retry_policy;  // of its transactions
  // Of a process's part in one lock: Hosted() of the protocol's own configuration. An empty `id`
  // means one that the process draws. REQUIRES: `table` is an identifier; lease is not above
  // lease_max.
  ProtocolConfig (*make_config)(const std::string& table, std::string lock_name, std::string id,
                                Duration lease) = nullptr;
};

// In the order of the documentation; then those that were added, as they came.
const std::deque<ProtocolInfo>& Protocols();
// Null when there is none of that name.
const ProtocolInfo* FindProtocol(std::string_view name);
// Puts one at the end, for as long as the program runs: part of sim::AddProtocol, which checks it.
// REQUIRES: no other thread runs yet; there is no protocol of that name.
void AddToProtocols(const ProtocolInfo& info);

}  // namespace whorl
