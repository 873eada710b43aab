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

// Compares as many of the key's first columns as the bound has.
std::weak_ordering CompareWithBound(const Key& key, const Row& bound) {
  return CompareKeys(std::span(key).first(std::min(key.size(), bound.size())), bound);
}

bool IsBefore(const Key& key, const KeySpan& span) {
  const std::weak_ordering order = CompareWithBound(key, span.start);
  return order < 0 || (order == 0 && !span.start_closed);
}

bool IsAfter(const Key& key, const KeySpan& span) {
  const std::weak_ordering order = CompareWithBound(key, span.end);
  return order > 0 || (order == 0 && !span.end_closed);
}

// Drops the versions that no read at or after `oldest_read` can see; true if the row can be
// dropped.
bool Trim(StoredRow& row, Timestamp oldest_read) {
  // The newest version at or before the oldest read is still visible to it; earlier ones are not.
  std::vector<Version>& versions = row.versions;
  auto seen = versions.begin();
  while (seen + 1 != versions.end() && (seen + 1)->commit <= oldest_read) ++seen;
  versions.erase(versions.begin(), seen);
  return versions.size() == 1 && !versions.front().row && versions.front().commit <= oldest_read;
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
    case RangeKind::kSpan:
      return !IsBefore(key, range.span) && !IsAfter(key, range.span);
  }
  return false;
}

const Row* VersionAt(const StoredRow& row, std::optional<Timestamp> snapshot) {
  for (size_t i = row.versions.size(); i-- > 0;) {
    const Version& version = row.versions[i];
    if (snapshot && version.commit > *snapshot) continue;
    return version.row ? &*version.row : nullptr;
  }
  return nullptr;
}

const StoredRow* FindStored(const StoredTable& table, const Key& key) {
  const size_t at = LowerBound(table, key);
  if (at == table.rows.size() || CompareKeys(table.rows[at].key, key) != 0) return nullptr;
  return &table.rows[at];
}

const Row* FindAt(const StoredTable& table, const Key& key, std::optional<Timestamp> snapshot) {
  const StoredRow* row = FindStored(table, key);
  return row == nullptr ? nullptr : VersionAt(*row, snapshot);
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
    case RangeKind::kSpan: {
      const auto first =
          std::partition_point(table.rows.begin(), table.rows.end(),
                               [&](const StoredRow& row) { return IsBefore(row.key, range.span); });
      const auto last = std::partition_point(first, table.rows.end(), [&](const StoredRow& row) {
        return !IsAfter(row.key, range.span);
      });
      return {static_cast<size_t>(first - table.rows.begin()),
              static_cast<size_t>(last - table.rows.begin())};
    }
    case RangeKind::kPrefix:
      break;
  }
  const size_t first = LowerBound(table, {range.prefix});
  size_t last = first;
  while (last < table.rows.size() && HasPrefix(table.rows[last].key.front(), range.prefix)) ++last;
  return {first, last};
}

void Put(StoredTable& table, const Key& key, Version version, Timestamp oldest_read) {
  const size_t at = LowerBound(table, key);
  if (at == table.rows.size() || CompareKeys(table.rows[at].key, key) != 0) {
    table.rows.insert(table.rows.begin() + static_cast<std::ptrdiff_t>(at),
                      {.key = key, .versions = {}});
  }
  table.rows[at].versions.push_back(std::move(version));
  if (Trim(table.rows[at], oldest_read)) {
    table.rows.erase(table.rows.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

void Collect(StoredTable& table, Timestamp oldest_read) {
  std::vector<StoredRow>& rows = table.rows;
  auto kept = rows.begin();
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    if (Trim(*row, oldest_read)) continue;
    if (kept != row) *kept = std::move(*row);
    ++kept;
  }
  rows.erase(kept, rows.end());
}

}  // namespace whorl::model
