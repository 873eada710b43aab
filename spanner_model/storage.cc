#include "spanner_model/storage.h"

#include <algorithm>
#include <utility>

namespace whorl::model {
namespace {

size_t LowerBound(const StoredTable& table, const Key& key) {
  const auto at = std::lower_bound(
      table.rows.begin(), table.rows.end(), key,
      [](const StoredRow& row, const Key& other) { return CompareKeys(row.key, other) < 0; });
  return static_cast<size_t>(at - table.rows.begin());
}

bool HasPrefix(const Value& value, const std::string& prefix) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr && text->starts_with(prefix);
}

}  // namespace

std::weak_ordering CompareKeys(std::span<const Value> a, std::span<const Value> b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const std::weak_ordering order = CompareValues(a[i], b[i]);
    if (order != 0) return order;
  }
  return a.size() <=> b.size();
}

Key KeyOf(const Table& table, const Row& row) {
  Key key;
  key.reserve(table.key.size());
  for (const uint32_t column : table.key) key.push_back(row[column]);
  return key;
}

bool Contains(const KeyRange& range, const Key& key) {
  switch (range.kind) {
    case RangeKind::kAll:
      return true;
    case RangeKind::kKey:
      return CompareKeys(range.key, key) == 0;
    case RangeKind::kPrefix:
      return HasPrefix(key.front(), range.prefix);
    case RangeKind::kNothing:
      return false;
  }
  return false;
}

const Row* VersionAt(const StoredRow& row, std::optional<Timestamp> snapshot) {
  auto version = row.versions.rbegin();
  while (version != row.versions.rend() && snapshot && version->commit > *snapshot) ++version;
  return version != row.versions.rend() && version->row ? &*version->row : nullptr;
}

const Row* FindNewest(const StoredTable& table, const Key& key) {
  const size_t at = LowerBound(table, key);
  if (at == table.rows.size() || CompareKeys(table.rows[at].key, key) != 0) return nullptr;
  const Version& newest = table.rows[at].versions.back();
  return newest.row ? &*newest.row : nullptr;
}

std::pair<size_t, size_t> RowsIn(const StoredTable& table, const KeyRange& range) {
  switch (range.kind) {
    case RangeKind::kAll:
      return {0, table.rows.size()};
    case RangeKind::kNothing:
      return {0, 0};
    case RangeKind::kKey: {
      const size_t at = LowerBound(table, range.key);
      const bool found = at < table.rows.size() && CompareKeys(table.rows[at].key, range.key) == 0;
      return {at, found ? at + 1 : at};
    }
    case RangeKind::kPrefix:
      break;
  }
  const size_t first = LowerBound(table, {range.prefix});
  size_t last = first;
  while (last < table.rows.size() && HasPrefix(table.rows[last].key.front(), range.prefix)) ++last;
  return {first, last};
}

void Put(StoredTable& table, const Key& key, Timestamp commit, std::optional<Row> row,
         Timestamp oldest_read) {
  const size_t at = LowerBound(table, key);
  if (at == table.rows.size() || CompareKeys(table.rows[at].key, key) != 0) {
    table.rows.insert(table.rows.begin() + static_cast<std::ptrdiff_t>(at),
                      {.key = key, .versions = {}});
  }
  std::vector<Version>& versions = table.rows[at].versions;
  versions.push_back({.commit = commit, .row = std::move(row)});
  // The newest version that is not younger than the oldest read is still seen; what lies before
  // it is not.
  auto seen = versions.begin();
  while (seen + 1 != versions.end() && (seen + 1)->commit <= oldest_read) ++seen;
  versions.erase(versions.begin(), seen);
  if (versions.size() == 1 && !versions.front().row && versions.front().commit <= oldest_read) {
    table.rows.erase(table.rows.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

}  // namespace whorl::model
