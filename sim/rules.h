// What checkers must know of a protocol beyond its promises: how to read its table, when a lease
// ends, which keys a process may write, and how long nobody may hold a lock.
//
// A protocol is one table of functions (RulesOf); a new protocol adds a table and nothing else.
// They are written from the protocol's text, and not with the protocol's code, so that a mistake
// in one shows in the other.
// Deliberately left out: protocols without tokens or without string keys; the first one that
// comes widens `token_column` and `key_column`.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "protocol/names.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/time.h"

namespace whorl::sim {

struct Rules {
  std::string_view protocol;
  // Places of columns in a row.
  size_t key_column = 0;
  size_t token_column = 0;  // a change of it to something that is not NULL is a grant, but:
  // The step by which an owner replaces its own token to renew its lease, which is no grant.
  std::optional<StepName> renewing_step;
  // The step by which an owner deletes its row to give the lock back.
  std::optional<StepName> releasing_step;

  // The steps whose transactions lock what they touch. One whose process gives it up, or goes, may
  // keep others out until Spanner aborts it for being idle.
  std::span<const StepName> locking_steps;

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
};

// REQUIRES: a protocol of Protocols().
const Rules& RulesOf(std::string_view protocol);

}  // namespace whorl::sim
