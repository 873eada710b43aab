// The rows that a statement sees: the versions of its snapshot, under its transaction's own writes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol/spanner/status.h"
#include "spanner_model/execute.h"
#include "spanner_model/sql/expression.h"
#include "spanner_model/sql/plan.h"
#include "spanner_model/storage.h"

namespace whorl::model {

inline EvaluationContext ContextOf(const ExecutionInput& input, std::span<const Value> row) {
  return {.parameters = input.parameters,
          .row = row,
          .current_timestamp = input.moment.current_timestamp};
}

inline const Table& TableOf(const ExecutionInput& input, uint32_t table) {
  return input.catalogue.schema().tables[table];
}

// The keys that the access looks at with these parameters. REQUIRES: it is not kNothing.
KeyRange RangeOf(const ExecutionInput& input, const Access& access);

// What the transaction has written to the row so far, or null.
BufferedWrite* FindWrite(ServerTransaction& transaction, uint32_t table, const Key& key);

// Calls visit(row) for every row in the range, in key order, as the transaction sees it, until it
// returns false.
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
    const Row* newest = nullptr;
    if (at < last && CompareKeys(write.key, stored.rows[at].key) == 0) {
      newest = VersionAt(stored.rows[at++], input.snapshot);
    }
    if (!write.row) continue;
    Row row = *write.row;
    if (newest != nullptr) TakeUnwritten(write, *newest, row);
    if (!visit(row)) return;
  }
}

// The rows that the WHERE keeps; an error ends the search.
template <typename Visit>
Status ForEachMatch(const ExecutionInput& input, uint32_t table, const Access& access,
                    const Expression* filter, const Visit& visit) {
  Status status;
  ForEachRow(input, table, RangeOf(input, access), [&](const Row& row) {
    const Match match =
        filter == nullptr ? Match::kYes : Matches(*filter, ContextOf(input, row), status);
    if (match == Match::kYes) status = visit(row);
    return status.ok();
  });
  return status;
}

// The outputs over a row; an error of their evaluation.
Status AppendOutputs(const ExecutionInput& input, const std::vector<Output>& outputs,
                     std::span<const Value> row, std::vector<Row>& out);

}  // namespace whorl::model
