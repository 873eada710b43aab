// Rows with their versions.
//
// Invariants:
//   1. Rows of a table are sorted by key; versions of a row by commit timestamp, newest last.
//   2. A version without a row records a deletion.
//   3. Versions that no read can see any more are dropped when their row is written, and by
//      Collect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/spanner/fields.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/time.h"
#include "spanner_model/schema.h"

namespace whorl::model {

using Key = Row;  // values of the key columns, in the order of Table::key

struct Version {
  Timestamp commit;
  uint64_t columns = 0;  // the columns that were written, as bits; validation compares them
  std::optional<Row> row;
  WHORL_FIELDS(Version, commit, columns, row);
};

struct StoredRow {
  Key key;
  std::vector<Version> versions;
  WHORL_FIELDS(StoredRow, key, versions);
};

struct StoredTable {
  std::vector<StoredRow> rows;
  WHORL_FIELDS(StoredTable, rows);
};

std::weak_ordering CompareKeys(std::span<const Value> a, std::span<const Value> b);
Key KeyOf(const Table& table, const Row& row);

// The keys that a statement accesses.
enum class RangeKind : uint8_t { kAll, kKey, kPrefix, kNothing, kSpan };
struct KeyRange {
  RangeKind kind = RangeKind::kAll;
  Key key;             // kKey
  std::string prefix;  // kPrefix: a prefix of the only key column
  KeySpan span;        // kSpan
  WHORL_FIELDS(KeyRange, kind, key, prefix, span);
};
bool Contains(const KeyRange& range, const Key& key);

// The row as of a time (by default the newest), or null if it did not exist then.
const Row* VersionAt(const StoredRow& row, std::optional<Timestamp> snapshot);
// All versions of a row, or null if it has none.
const StoredRow* FindStored(const StoredTable& table, const Key& key);
const Row* FindAt(const StoredTable& table, const Key& key, std::optional<Timestamp> snapshot);
inline const Row* FindNewest(const StoredTable& table, const Key& key) {
  return FindAt(table, key, std::nullopt);
}
// Rows [first, last) of table.rows that can lie in the range.
std::pair<size_t, size_t> RowsIn(const StoredTable& table, const KeyRange& range);
// Adds a version, and drops the row's versions that no read at or after `oldest_read` can see.
void Put(StoredTable& table, const Key& key, Version version, Timestamp oldest_read);
// Drops the versions of all rows that no read at or after `oldest_read` can see.
void Collect(StoredTable& table, Timestamp oldest_read);

}  // namespace whorl::model
