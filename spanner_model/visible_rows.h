// Finds the rows of a table as a statement sees them: the committed versions as of its time, with
// the writes of its own transaction applied.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/spanner/status.h"
#include "spanner_model/execute.h"
#include "spanner_model/sql/expression.h"
#include "spanner_model/sql/plan.h"
#include "spanner_model/storage.h"
#include "spanner_model/transaction.h"

namespace whorl::model {

inline EvaluationContext ContextOf(const ExecutionInput& input, std::span<const Value> row) {
  return {.parameters = input.parameters,
          .row = row,
          .current_timestamp = input.moment.current_timestamp};
}

inline const Table& TableOf(const ExecutionInput& input, uint32_t table) {
  return input.catalogue.schema().tables[table];
}

// The key range that the access means with these parameters. REQUIRES: it is not kNothing.
KeyRange RangeOf(const ExecutionInput& input, const Access& access);

// The row with this key, or null. `own`: its write in the transaction, or null. A row that no table holds in
// this form is put into `scratch`.
const Row* RowAt(const ExecutionInput& input, const BufferedWrite* own, uint32_t table,
                 const Key& key, Row& scratch);

// Calls visit(row) for every row in the range, in key order, until it returns false.
template <typename Visit>
void ForEachRow(const ExecutionInput& input, uint32_t table, const KeyRange& range,
                const Visit& visit) {
  auto [at, last] = RowsIn(input.tables[table], range);
  std::vector<const BufferedWrite*> own;
  if (input.transaction != nullptr) {
    for (const BufferedWrite& write : input.transaction->writes) {
      if (write.table == table && Contains(range, write.key)) own.push_back(&write);
    }
    std::sort(own.begin(), own.end(), [](const BufferedWrite* a, const BufferedWrite* b) {
      return CompareKeys(a->key, b->key) < 0;
    });
  }
  auto next_own = own.begin();
  while (at != last || next_own != own.end()) {
    const bool take_own =
        next_own != own.end() && (at == last || CompareKeys((*next_own)->key, at->first) <= 0);
    if (!take_own) {
      const Row* row = VersionAt((at++)->second, input.snapshot);
      if (row != nullptr && !visit(*row)) return;
      continue;
    }
    const BufferedWrite& write = **next_own++;
    const Row* committed = nullptr;
    if (at != last && CompareKeys(write.key, at->first) == 0) {
      committed = VersionAt((at++)->second, input.snapshot);
    }
    if (!write.row) continue;
    Row row = *write.row;
    if (committed != nullptr) TakeUnwritten(write, *committed, row);
    if (!visit(row)) return;
  }
}

// The key that the access names with these parameters, if that is one value, the statement's own
// transaction has written nothing, and the row with this key is the one that matches; otherwise null.
const Value* OneKey(const ExecutionInput& input, const Access& access, Value& scratch);

// Calls visit(row) for the rows that the WHERE keeps. An error ends the scan.
template <typename Visit>
Status ForEachMatch(const ExecutionInput& input, uint32_t table, const Access& access,
                    const Expression* filter, const Visit& visit) {
  Value scratch;
  if (const Value* key = OneKey(input, access, scratch)) {
    const Row* row = FindAt(input.tables[table], {key, 1}, input.snapshot);
    return row == nullptr ? Status() : visit(*row);
  }
  Status status;
  ForEachRow(input, table, RangeOf(input, access), [&](const Row& row) {
    const Match match =
        filter == nullptr ? Match::kYes : Matches(*filter, ContextOf(input, row), status);
    if (match == Match::kYes) status = visit(row);
    return status.ok();
  });
  return status;
}

// Evaluates the outputs over `row` and appends the result.
Status AppendOutputs(const ExecutionInput& input, const std::vector<Output>& outputs,
                     std::span<const Value> row, std::vector<Row>& out);

// INVALID_ARGUMENT if the transaction wrote PENDING_COMMIT_TIMESTAMP() to one of the columns (under
// PendingRule::kTable, to any column of the table).
Status CheckPendingColumns(const ExecutionInput& input, uint32_t table, ColumnSet columns);

}  // namespace whorl::model
