// Holds what both machines of this example use: the transaction that writes a lock's row, and the
// name of a namespace. A copy of one machine takes this file along.
#pragma once

#include <utility>
#include <vector>

#include "base/time.h"
#include "protocol/client/transaction.h"
#include "protocol/machine.h"
#include "protocol/names.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/value.h"

// A namespace as a text: a revision that is compiled with -Dsimple_lease=simple_lease_before has
// that name.
#define OWN_PROTOCOL_TEXT(word) #word
#define OWN_PROTOCOL_TEXT_OF(word) OWN_PROTOCOL_TEXT(word)

namespace own_protocol {

// Optimistic, so that a process that hangs between statement and Commit leaves no locks.
inline whorl::Transaction WriteOf(whorl::StepName step, whorl::Sql sql,
                                  std::vector<whorl::Value> parameters,
                                  whorl::LocalInstant give_up_at) {
  whorl::Transaction transaction =
      whorl::OneStatement(step, whorl::Mode::kReadWrite, sql, std::move(parameters));
  transaction.lock_mode = whorl::LockMode::kOptimistic;
  transaction.give_up_at = give_up_at;
  return transaction;
}

// Whether the last statement of a write did so.
inline bool ChangedTheRow(const whorl::TransactionResult& result) {
  return result.outcome == whorl::Outcome::kCommitted && result.results.back().row_count == 1;
}

}  // namespace own_protocol
