// Reads of rows by key, without SQL, and the key ranges of deletions in mutations.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "protocol/spanner/mutation.h"
#include "protocol/spanner/rpc.h"
#include "protocol/spanner/status.h"
#include "spanner_model/execute.h"
#include "spanner_model/schema.h"
#include "spanner_model/storage.h"
#include "spanner_model/transaction.h"

namespace whorl::model {

// A Read with its names resolved.
struct KeyRead {
  uint32_t table = 0;
  std::vector<uint32_t> columns;
  std::vector<KeyRange> ranges;
  int64_t limit = 0;
  WHORL_FIELDS(KeyRead, table, columns, ranges, limit);
};

// The ranges of a key set; FAILED_PRECONDITION if a key does not fit the table.
std::variant<std::vector<KeyRange>, Status> RangesOf(const Table& table, const KeySet& keys);

std::variant<KeyRead, Status> ResolveRead(const Schema& schema, const Read& read);
Status CheckPending(const ExecutionInput& input, const KeyRead& read);
void AppendReadLocks(const KeyRead& read, std::vector<ReadLock>& out);
Execution Execute(const ExecutionInput& input, const KeyRead& read);

}  // namespace whorl::model
