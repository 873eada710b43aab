// What checkers must know of a protocol beyond its promises: how to read its table, when a lease
// ends, which keys a process may write, and how long nobody may hold a lock.
//
// A protocol is one table of functions (RulesOf); a new protocol adds a table and nothing else. One
// outside of this repository gives its table to AddProtocol (add_protocol.h).
// They are written from the protocol's text, and not with the protocol's code, so that a mistake
// in one shows in the other.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "protocol/names.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/time.h"
#include "protocol/spanner/value.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

struct Rules {
  std::string_view protocol;
  // Places of columns in a row.
  size_t key_column = 0;
  // The token: a change of it to something that is not NULL is a grant, but for a renewal. Nothing
  // where the protocol has none: then whoever writes a row that names an owner is its owner.
  std::optional<size_t> token_column;
  size_t owner_column = 0;  // of a protocol without tokens
  // The step by which an owner replaces its own token, or writes its own row, to renew its lease,
  // which is no grant.
  std::optional<StepName> renewing_step;
  // The step by which an owner deletes its row to give the lock back.
  std::optional<StepName> releasing_step;

  // The steps whose transactions lock what they touch. One whose process gives it up, or goes, may
  // keep others out until Spanner aborts it for being idle.
  std::span<const StepName> locking_steps;

  // The key of the row of a lock.
  Value (*row_key)(std::string_view lock);
  // What a lease that a user asked for is in truth.
  Duration (*lease_used)(Duration asked);
  // Until when a row that its owner wrote is the owner's; nothing when the row does not say.
  std::optional<Timestamp> (*lease_until)(const Row& row, Duration owners_lease);
  // Whether the row says that its owner has given the lock up.
  bool (*is_released)(const Row& row);
  // Whether `key` is a row of the protocol's own beside the row of `lock`.
  bool (*is_side_row)(std::string_view lock, std::string_view key);
  // W of no_wedge. `greatest_lease` is of the nodes that take part in the lock.
  Duration (*wedge_bound)(Duration greatest_lease, Duration round_trip_p999);

  // What is NULL in a row that nobody holds.
  size_t HolderColumn() const { return token_column.value_or(owner_column); }
};

// REQUIRES: a protocol of Protocols().
const Rules& RulesOf(std::string_view protocol);
// Part of AddProtocol.
void AddRules(const Rules& rules);

// Whether somebody holds the lock by this row.
bool IsHeld(const Rules& rules, const Row& row);

// By lock.
std::vector<Value> KeysOfLocks(const Rules& rules, const Scenario& scenario);
// The key that a text for people stands for: the name of the lock for that of the lock's row.
// Nothing when it is not of the key's type.
std::optional<Value> ParseKey(const Rules& rules, std::string_view lock, std::string_view text);

}  // namespace whorl::sim
