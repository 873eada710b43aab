// The rows of a table as a statement sees them: the committed versions as of its time, under what
// its own transaction has written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spanner_model/execute.h"
#include "spanner_model/storage.h"
#include "spanner_model/transaction.h"

namespace whorl::model {

// Calls visit(row) for every row in the range, in key order, until it returns false.
template <typename Visit>
void ForEachRow(const ExecutionInput& input, uint32_t table, const KeyRange& range,
                const Visit& visit) {
  const StoredTable& stored = input.tables[table];
  const auto [first, last] = RowsIn(stored, range);
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
  for (size_t at = first; at < last || next_own != own.end();) {
    const bool take_own = next_own != own.end() &&
                          (at == last || CompareKeys((*next_own)->key, stored.rows[at].key) <= 0);
    if (!take_own) {
      const Row* row = VersionAt(stored.rows[at++], input.snapshot);
      if (row != nullptr && !visit(*row)) return;
      continue;
    }
    const BufferedWrite& write = **next_own++;
    const Row* committed = nullptr;
    if (at < last && CompareKeys(write.key, stored.rows[at].key) == 0) {
      committed = VersionAt(stored.rows[at++], input.snapshot);
    }
    if (!write.row) continue;
    Row row = *write.row;
    if (committed != nullptr) TakeUnwritten(write, *committed, row);
    if (!visit(row)) return;
  }
}

// Columns that the transaction wrote PENDING_COMMIT_TIMESTAMP() to cannot be read any more (or
// nothing of their table, by the catalogue's rule): INVALID_ARGUMENT.
Status CheckPendingColumns(const ExecutionInput& input, uint32_t table, ColumnSet columns);

}  // namespace whorl::model
