// Represents the row of a lock as READ returns it, and checks that it is valid.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "base/time.h"
#include "protocol/spanner/mutation.h"

namespace whorl::fenced_lease {

struct LockRow {
  Timestamp heartbeat;
  Timestamp token;        // 1970 if there is none
  bool released = false;  // no writer
  Duration lease;
  std::string attempt;  // empty if there is none
  Duration age;         // by CURRENT_TIMESTAMP, which may be wrong by any amount
};

// `row`: heartbeat, token, writer, lease_ms, attempt, CURRENT_TIMESTAMP. If lease_ms is NULL, the lease is
// `own_lease`. For an invalid row, returns what is wrong: no heartbeat, or a lease_ms out of range.
std::variant<LockRow, std::string> ParseRow(const Row& row, Duration own_lease);

}  // namespace whorl::fenced_lease
