// Writes that a Commit carries without SQL, and the keys that a read or a deletion names.
//
// Invariants:
//   1. Rows and keys hold values in the order of their columns (of the primary key, for keys).
//   2. The text kCommitTimestamp in a TIMESTAMP column means the commit timestamp, as it does on
//      the wire; no other STRING is a value of such a column.
// Deliberately left out: mutations of queues.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/spanner/fields.h"
#include "protocol/spanner/value.h"

namespace whorl {

using Row = std::vector<Value>;

inline constexpr std::string_view kCommitTimestamp = "spanner.commit_timestamp()";

// From `start` to `end`. Either may be a prefix of a key, which means all keys that begin with it.
struct KeySpan {
  Row start;
  bool start_closed = true;
  Row end;
  bool end_closed = false;
  WHORL_FIELDS(KeySpan, start, start_closed, end, end_closed);
};

struct KeySet {
  bool all = false;
  std::vector<Row> keys;
  std::vector<KeySpan> spans;
  WHORL_FIELDS(KeySet, all, keys, spans);
};

enum class MutationKind : uint8_t { kInsert, kUpdate, kInsertOrUpdate, kReplace, kDelete };

struct Mutation {
  MutationKind kind = MutationKind::kInsert;
  std::string table;
  std::vector<std::string> columns;  // the columns of `rows`
  std::vector<Row> rows;
  KeySet keys;  // for kDelete, which has no columns and no rows
  WHORL_FIELDS(Mutation, kind, table, columns, rows, keys);
};

}  // namespace whorl
