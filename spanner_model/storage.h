// Stores rows with their versions.
//
// Invariants:
//   1. Rows of a table are sorted by key; versions of a row by commit timestamp, newest last.
//   2. A version without a row records a deletion.
//   3. Versions that no read can see any more are dropped when their row is written, and by
//      Collect.
#pragma once

#include <absl/container/btree_map.h>
#include <absl/types/compare.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/sql.h"
#include "spanner_model/schema.h"

namespace whorl::model {

using Key = Row;  // values of the key columns, in the order of Table::key

struct Version {
  Timestamp commit;
  uint64_t columns = 0;  // the columns that were written, as bits; validation compares them
  std::optional<Row> row;
  WHORL_FIELDS(Version, commit, columns, row);
};

using Versions = std::vector<Version>;

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

// Orders keys; and places a key before, in or after a range, whose keys are adjacent. It answers as
// the tree understands it, which then compares a key that it looks for with each other one once.
struct KeyOrder {
  // The place of the first key that is not before the range, and of the first one after it.
  struct StartOf {
    const KeyRange& range;
  };
  struct EndOf {
    const KeyRange& range;
  };
  using is_transparent = void;
  absl::weak_ordering operator()(std::span<const Value> a, std::span<const Value> b) const {
    const std::weak_ordering order = CompareKeys(a, b);
    if (order < 0) return absl::weak_ordering::less;
    return order > 0 ? absl::weak_ordering::greater : absl::weak_ordering::equivalent;
  }
  absl::weak_ordering operator()(const Key& key, StartOf start) const {
    return IsBefore(key, start) ? absl::weak_ordering::less : absl::weak_ordering::greater;
  }
  absl::weak_ordering operator()(const Key& key, EndOf end) const {
    return IsBefore(key, end) ? absl::weak_ordering::less : absl::weak_ordering::greater;
  }
  // The tree's assertions ask the other way round, too.
  absl::weak_ordering operator()(StartOf start, const Key& key) const {
    return IsBefore(key, start) ? absl::weak_ordering::greater : absl::weak_ordering::less;
  }
  absl::weak_ordering operator()(EndOf end, const Key& key) const {
    return IsBefore(key, end) ? absl::weak_ordering::greater : absl::weak_ordering::less;
  }

 private:
  static bool IsBefore(const Key& key, StartOf start);
  static bool IsBefore(const Key& key, EndOf end);
};

struct StoredTable {
  // A tree, since a server may keep a million rows that were deleted within the retention.
  using Rows = absl::btree_map<Key, Versions, KeyOrder>;
  Rows rows;
  WHORL_FIELDS(StoredTable, rows);
};

// The row as of a time (by default the newest), or null if it did not exist then.
const Row* VersionAt(const Versions& versions, std::optional<Timestamp> snapshot);
// All versions of a row, or null if it has none.
const Versions* FindStored(const StoredTable& table, std::span<const Value> key);
const Row* FindAt(const StoredTable& table, std::span<const Value> key,
                  std::optional<Timestamp> snapshot);
inline const Row* FindNewest(const StoredTable& table, const Key& key) {
  return FindAt(table, key, std::nullopt);
}
// The rows that can lie in the range.
struct RowsOfRange {
  StoredTable::Rows::const_iterator first;
  StoredTable::Rows::const_iterator last;  // past the end
  auto begin() const { return first; }
  auto end() const { return last; }
};
RowsOfRange RowsIn(const StoredTable& table, const KeyRange& range);
// Adds a version, and drops the row's versions that no read at or after `oldest_read` can see.
void Put(StoredTable& table, const Key& key, Version version, Timestamp oldest_read);
// Drops the versions of all rows that no read at or after `oldest_read` can see.
void Collect(StoredTable& table, Timestamp oldest_read);
// The earliest timestamp at which reads need at most `limit` versions besides the newest rows, or
// nothing if all times need no more. (A deletion counts until it is past.)
std::optional<Timestamp> OldestReadWithin(std::span<const StoredTable> tables, size_t limit);

}  // namespace whorl::model
