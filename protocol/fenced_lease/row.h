// The row of a lock as READ answers it, told apart from a row that nobody may judge.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "protocol/spanner/mutation.h"
#include "protocol/spanner/time.h"

namespace whorl::fenced_lease {

struct LockRow {
  Timestamp heartbeat;
  Timestamp token;        // 1970 when there is none
  bool released = false;  // no writer
  Duration lease;
  std::string attempt;  // empty when there is none
  Duration age;         // by CURRENT_TIMESTAMP, which may be wrong by any amount
};

// `row`: heartbeat, token, writer, lease_ms, attempt, age_us. A lease_ms of NULL is `own_lease`. A
// text says what is wrong with the row: no heartbeat, or a lease_ms out of range.
std::variant<LockRow, std::string> ParseRow(const Row& row, Duration own_lease);

}  // namespace whorl::fenced_lease
