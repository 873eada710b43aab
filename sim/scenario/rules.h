// Defines what checkers must know about a protocol beyond its promises: how to read its table, when a
// lease ends, which keys a process may write, and how long a lock may be without a holder.
//
// Each protocol has one table of rules (RulesOf). It is data, except for the functions that compute times, which
// only simulated runs need. A new protocol adds its table here; a protocol outside of this repository passes its
// table to AddProtocol (add_protocol.h). The rules are written from the protocol's description and do not use the
// protocol's code, so a mistake in one shows in the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "protocol/names.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/value.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// The key of a lock's row.
struct RowKeyRule {
  // The key of the row if the table has a single lock, with any name. nullopt: the key is the lock's name.
  std::optional<int64_t> only = {};

  Value operator()(std::string_view lock) const {
    return only ? Value(*only) : Value(std::string(lock));
  }
};

// The lease actually used when another one is asked for: in whole units, within bounds.
struct LeaseUsedRule {
  Duration unit = Nanoseconds(1);
  Duration least = {};
  Duration most = Duration::Max();

  constexpr Duration operator()(Duration asked) const {
    return std::clamp(Duration{asked.ns / unit.ns * unit.ns}, least, most);
  }
};

// When the lease in a row that its owner wrote ends; nullopt if the row does not say.
struct LeaseUntilRule {
  // The index of a TIMESTAMP column. A table has one of the two: the time of the last renewal, from which the
  // lease counts; or the end of the lease.
  std::optional<size_t> renewed = {};
  std::optional<size_t> until = {};
  // The index of an INT64 column with the owner's lease in milliseconds, if the table has one. If the value is
  // NULL, the lease is the one that the owner was started with.
  std::optional<size_t> lease_ms = {};

  std::optional<Timestamp> operator()(const Row& row, Duration owners_lease) const;
};

// Whether the row says that its owner has released the lock.
struct ReleasedRule {
  // The column that is NULL in a released row. nullopt: the owner deletes the row, or never releases it.
  std::optional<size_t> null_column = {};

  bool operator()(const Row& row) const { return null_column && IsNull(row[*null_column]); }
};

// Whether `key` is the key of a row that the protocol keeps beside the row of `lock`.
struct SideRowRule {
  bool is_name_and_number = false;  // the lock's name, "_", and an unsigned integer as Go prints it

  bool operator()(std::string_view lock, std::string_view key) const;
};

// Which rows a process may delete.
enum class Deletes : uint8_t {
  kNone,
  kAny,
  kWithUnderscore,  // rows whose keys have an underscore after their first character
};

// What a protocol's statements write. It shows whether a change of a row was made by an operator or by a process,
// and by which process.
struct StatementRules {
  // Whether the protocol's statements are known. If not, a process may have made any change.
  bool are_known = false;
  Deletes deletes = Deletes::kNone;
  // A process may delete the row of another holder.
  bool delete_rows_of_others = false;
  // The heartbeat names neither token nor holder: any process may renew the row.
  bool renew_rows_of_others = false;
  // A statement that changes the token sets it to its commit timestamp.
  bool token_is_commit = false;
  // An UPDATE sets the holder to NULL, to release the lock.
  bool empty_holder = false;
  // A renewal writes CURRENT_TIMESTAMP() of its statement, not its commit timestamp.
  bool renewed_is_current = false;
};

// When a process that had the lock gives it back, and when another one takes it: prompt_handover.
struct HandoverRule {
  bool gives_back = false;  // if it never does, nothing else is said
  // The longest pause between two looks of a process that waits, in percent of the longest lease: of one
  // that hears of no release, and of one that does (ProtocolInfo::announces_releases).
  int64_t poll_percent = 0;
  int64_t announced_percent = 0;
  // For how long a disturbance that is over may still be felt: by pauses of the client that had grown, and
  // by row locks of transactions that were given up.
  Duration settles;
  // A lock that comes in after the process has ended its part is given back at once.
  bool gives_back_late_grants = false;
};

// Statistics of the time from a fault to the next grant.
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
  // is not NULL is a grant, unless it renews a lease. nullopt if the protocol has no tokens: then
  // the process that writes an owner into a row is its owner.
  std::optional<size_t> token_column;
  size_t owner_column = 0;  // for a protocol without tokens
  // The step by which an owner replaces its own token, or writes its own row, to renew its lease.
  // That is no grant.
  std::optional<StepName> renewing_step;
  // The step by which an owner deletes its row, or clears owner_column, to give the lock back.
  std::optional<StepName> releasing_step;
  // The steps whose transactions lock the rows that they read or write. If a process gives such a
  // transaction up, or crashes, the transaction may keep others out until Spanner aborts it as idle.
  std::span<const StepName> locking_steps;

  RowKeyRule row_key = {};
  LeaseUsedRule lease_used = {};
  LeaseUntilRule lease_until = {};
  ReleasedRule is_released = {};
  SideRowRule is_side_row = {};
  // W of no_wedge. `greatest_lease` is the longest lease of the nodes that take part in the lock,
  // and of the rows at the start.
  Duration (*wedge_bound)(Duration greatest_lease, Duration round_trip_p999) = nullptr;

  // The least part of its lease, in percent, for which a leader believes after it began the last
  // transaction that renewed it, unless it loses the lock. nullopt: no belief ends by the clock.
  std::optional<int64_t> least_lead_percent = {};
  // How long after its part has ended a leader's application is called back; nullopt: it never is.
  std::optional<Duration> told_of_stop_within = Duration{};
  // The step that asks Spanner for an answer, if it is another one than has_lock.
  std::optional<StepName> question_step = {};
  // How often a blocking Lock() looks whether its context has ended.
  Duration lock_looks_every = {};
  // The most calls of a transaction none of which fails. 0: it is not known.
  int64_t calls_of_transaction = 0;
  HandoverRule handover = {};

  StatementRules statements = {};
  // The mean time from a renewal to the leader's next one, without faults. Null: it is not known.
  Duration (*renewal_pause)(Duration lease_used) = nullptr;
  // A process tells its application that it leads only one lease after the grant.
  bool leads_a_lease_late = false;
  // The analysed time from a crash or a pause of the leader to the next grant, with one follower and RPCs that
  // take no time. Null: it was not analysed.
  ClosedForm (*takeover_time)(Duration lease_used) = nullptr;

  // The column that is NULL in a row without a holder.
  size_t HolderColumn() const { return token_column.value_or(owner_column); }
};

// N of paced_calls for a process with this lease: how many transactions of one step it may start in any second
// while they end alike. It allows eight looks or claims, whose pauses double from 30 ms, and a heartbeat every
// sixteenth of the lease.
constexpr int64_t StartsInSecondMax(Duration lease_used) {
  constexpr int64_t kLooks = 8;
  const int64_t sixteenth = std::max<int64_t>(lease_used.ns / 16, 1);
  return kLooks + (Seconds(1).ns + sixteenth - 1) / sixteenth;
}

// The most calls of one transaction in any second, of paced_calls: what the client repeats comes after pauses that
// grow.
inline constexpr int64_t kCallsInSecondMax = 64;

// Whether a process may delete the row with this key.
bool MayDelete(Deletes deletes, std::string_view key);

// The rules of a protocol. REQUIRES: it is in Protocols().
const Rules& RulesOf(std::string_view protocol);
// Adds the rules of a protocol. Only AddProtocol calls it.
void AddRules(const Rules& rules);

// Whether the row names a holder of the lock.
bool IsHeld(const Rules& rules, const Row& row);

// Converts `text` to a key; the lock's name becomes the key of the lock's row. nullopt if the text
// cannot be converted to the key's type.
std::optional<Value> ParseKey(const Rules& rules, std::string_view lock, std::string_view text);

}  // namespace whorl::sim
