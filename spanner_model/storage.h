// Rows with their versions.
//
// Invariants:
//   1. Rows of a table are sorted by key; versions of a row by commit timestamp, newest last.
//   2. A version without values says that the row was deleted.
//   3. Versions that nobody can read any more are dropped when their row is written.
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
  std::optional<Row> row;
  WHORL_FIELDS(Version, commit, row);
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

// The keys that a statement looks at.
enum class RangeKind : uint8_t { kAll, kKey, kPrefix, kNothing };
struct KeyRange {
  RangeKind kind = RangeKind::kAll;
  Key key;             // kKey
  std::string prefix;  // kPrefix: of the only key column
  WHORL_FIELDS(KeyRange, kind, key, prefix);
};
bool Contains(const KeyRange& range, const Key& key);

// The values of the row as of the snapshot (the newest version committed at or before it), or the
// newest ones without a snapshot; null when there are none.
const Row* VersionAt(const StoredRow& row, std::optional<Timestamp> snapshot);
// The newest values of the row, or null when there is none.
const Row* FindNewest(const StoredTable& table, const Key& key);
// Rows [first, last) of table.rows that can lie in the range.
std::pair<size_t, size_t> RowsIn(const StoredTable& table, const KeyRange& range);
// Adds a version, and drops those that a read at or after `oldest_read` cannot see.
void Put(StoredTable& table, const Key& key, Timestamp commit, std::optional<Row> row,
         Timestamp oldest_read);

}  // namespace whorl::model
