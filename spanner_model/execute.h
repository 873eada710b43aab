// Runs a plan over the rows that a statement sees: the newest versions, or those of a snapshot,
// under its transaction's own writes.
//
// Invariants:
//   1. Nothing is changed but `transaction.writes`, and that only when the statement succeeds.
//   2. Locks are the caller's business: AppendReadLocks says which ones the statement needs.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "protocol/spanner/sql.h"
#include "protocol/spanner/status.h"
#include "spanner_model/catalogue.h"
#include "spanner_model/sql/plan.h"
#include "spanner_model/storage.h"
#include "spanner_model/transaction.h"
#include "spanner_model/truetime.h"

namespace whorl::model {

// What a statement runs in. `transaction` is null for a single-use read.
struct ExecutionInput {
  const Catalogue& catalogue;
  const std::vector<StoredTable>& tables;
  ServerTransaction* transaction;
  std::span<const Value> parameters;
  const Moment& moment;
  std::optional<Timestamp> snapshot;  // as of when rows are read; nothing: the newest
};

struct Execution {
  StatementResult result;  // with the rows of a query, or of THEN RETURN
  bool dooms = false;      // a constraint failed, which the transaction does not survive
};

// Columns that the transaction wrote PENDING_COMMIT_TIMESTAMP() to cannot be read any more (or
// nothing of their table, by the catalogue's rule): INVALID_ARGUMENT.
Status CheckPending(const ExecutionInput& input, const Plan& plan);
void AppendReadLocks(const ExecutionInput& input, const Plan& plan, std::vector<ReadLock>& out);
Execution Execute(const ExecutionInput& input, const Plan& plan);

}  // namespace whorl::model
