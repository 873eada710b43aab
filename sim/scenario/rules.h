// What checkers must know about a protocol beyond its promises: how to read its table, when a lease
// ends, which keys a process may write, and how long a lock may be without a holder.
//
// Each protocol has one table of functions (RulesOf). A new protocol adds its table here; one
// outside of this repository passes its table to AddProtocol (add_protocol.h).
// The rules are written from the protocol's description and do not use the protocol's code, so a
// mistake in one shows in the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "protocol/names.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/value.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// What a protocol's statements write, by which a change of a row is told from a write of an operator, and
// from that of another process.
struct StatementRules {
  // Whether they are known. If not, a process may have made any change.
  bool are_known = false;
  // Whether a process may delete the row with this key. Null: no statement deletes a row.
  bool (*may_delete)(std::string_view key) = nullptr;
  // A process may delete the row of a holder that is another one.
  bool delete_rows_of_others = false;
  // The heartbeat names neither token nor holder: any process may renew the row.
  bool renew_rows_of_others = false;
  // A statement that changes the token sets it to its commit timestamp.
  bool token_is_commit = false;
  // An UPDATE sets the holder to NULL, to release the lock.
  bool empty_holder = false;
  // The time of the renewal is CURRENT_TIMESTAMP(), that of the statement, not its commit timestamp.
  bool renewed_is_current = false;
};

// A time from a fault to the grant.
struct ClosedForm {
  Duration mean;
  Duration p99;
  Duration max;
};

struct Rules {
  std::string_view protocol;
  // Indexes of columns in a row.
  size_t key_column = 0;
  // The token, in a column of type TIMESTAMP or INT64 (protocol/token.h). A change to a token that
  // is not NULL is a grant, unless it renews a lease. Nothing if the protocol has no tokens: then
  // the process that writes an owner into a row is its owner.
  std::optional<size_t> token_column;
  size_t owner_column = 0;  // for a protocol without tokens
  // The step by which an owner replaces its own token, or writes its own row, to renew its lease.
  // That is no grant.
  std::optional<StepName> renewing_step;
  // The step by which an owner deletes its row to give the lock back.
  std::optional<StepName> releasing_step;
  // The lease of the row's owner in milliseconds, if the row states it.
  std::optional<size_t> lease_ms_column;

  // The steps whose transactions lock the rows that they read or write. If a process gives such a
  // transaction up, or crashes, it may keep others out until Spanner aborts it for being idle.
  std::span<const StepName> locking_steps;

  // The key of a lock's row.
  Value (*row_key)(std::string_view lock);
  // The lease actually used, after the protocol's minimum is applied.
  Duration (*lease_used)(Duration asked);
  // When the lease in a row that its owner wrote ends; nothing if the row does not say.
  std::optional<Timestamp> (*lease_until)(const Row& row, Duration owners_lease);
  // Whether the row says that its owner has released the lock.
  bool (*is_released)(const Row& row);
  // Whether `key` is the key of a row that the protocol keeps beside the row of `lock`.
  bool (*is_side_row)(std::string_view lock, std::string_view key);
  // W of no_wedge. `greatest_lease` is the longest lease of the nodes that take part in the lock,
  // and of the rows at the start.
  Duration (*wedge_bound)(Duration greatest_lease, Duration round_trip_p999);

  StatementRules statements = {};
  // How long after a renewal a leader renews again without faults, on the average. Null: it is not known.
  Duration (*renewal_pause)(Duration lease_used) = nullptr;
  // A process tells its application that it leads only one lease after the grant.
  bool leads_a_lease_late = false;
  // By our analysis, the time from a crash or a pause of the leader to the grant, with one follower and RPCs
  // that take no time. Null: there is none.
  ClosedForm (*takeover_time)(Duration lease_used) = nullptr;

  // The column that is NULL in a row without a holder.
  size_t HolderColumn() const { return token_column.value_or(owner_column); }
};

// N of paced_calls, for a process with this lease: how many transactions of one step it may start in any
// second while they end alike: eight looks or claims, whose pauses double from 30 ms, and heartbeats every
// sixteenth of the lease.
constexpr int64_t StartsInSecondMax(Duration lease_used) {
  constexpr int64_t kLooks = 8;
  const int64_t sixteenth = std::max<int64_t>(lease_used.ns / 16, 1);
  return kLooks + (Seconds(1).ns + sixteenth - 1) / sixteenth;
}

// REQUIRES: a protocol of Protocols().
const Rules& RulesOf(std::string_view protocol);
// Called by AddProtocol.
void AddRules(const Rules& rules);

// Whether the row names a holder of the lock.
bool IsHeld(const Rules& rules, const Row& row);

// The key that `text` stands for; the lock's name stands for the key of the lock's row. Nothing if
// the text cannot be converted to the key's type.
std::optional<Value> ParseKey(const Rules& rules, std::string_view lock, std::string_view text);

}  // namespace whorl::sim
