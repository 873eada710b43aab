// Rows by their keys, without SQL: the Read call, and the deletions of mutations.
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

// A Read whose names were looked up.
struct KeyRead {
  uint32_t table = 0;
  std::vector<uint32_t> columns;
  std::vector<KeyRange> ranges;
  int64_t limit = 0;
  WHORL_FIELDS(KeyRead, table, columns, ranges, limit);
};

// The ranges of a key set, or what is wrong with it (FAILED_PRECONDITION).
std::variant<std::vector<KeyRange>, Status> RangesOf(const Table& table, const KeySet& keys);

std::variant<KeyRead, Status> ResolveRead(const Schema& schema, const Read& read);
Status CheckPending(const ExecutionInput& input, const KeyRead& read);
void AppendReadLocks(const KeyRead& read, std::vector<ReadLock>& out);
Execution Execute(const ExecutionInput& input, const KeyRead& read);

}  // namespace whorl::model
