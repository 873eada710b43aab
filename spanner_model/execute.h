// Runs a plan over the rows that a statement sees: the newest versions, or those of a snapshot,
// with the writes of its own transaction applied.
//
// Invariants:
//   1. Only `transaction.writes` changes, and only if the statement succeeds.
//   2. The caller takes the locks; AppendReadLocks returns those that the statement needs.
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

// The inputs of a statement. `transaction` is null for a single-use read.
struct ExecutionInput {
  const Catalogue& catalogue;
  const std::vector<StoredTable>& tables;
  TransactionState* transaction;
  std::span<const Value> parameters;
  const ClockReading& moment;
  std::optional<Timestamp> snapshot;  // rows are read as of this time; without it, the newest
};

struct Execution {
  StatementResult result;  // with the rows of a query, or of THEN RETURN
  bool dooms = false;      // a constraint failed, so the transaction can no longer commit
};

// INVALID_ARGUMENT if the statement reads a column to which the transaction wrote
// PENDING_COMMIT_TIMESTAMP() (under PendingRule::kTable, any column of its table).
Status CheckPending(const ExecutionInput& input, const Plan& plan);
void AppendReadLocks(const ExecutionInput& input, const Plan& plan, std::vector<ReadLock>& out);
Execution Execute(const ExecutionInput& input, const Plan& plan);

// Runs a SELECT. Returns the rows in the order of ORDER BY, or else of their keys. Without ORDER BY, it evaluates no more
// rows than LIMIT needs.
StatementResult RunQuery(const ExecutionInput& input, const SelectPlan& plan);

}  // namespace whorl::model
