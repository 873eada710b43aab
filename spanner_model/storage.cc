#include "spanner_model/storage.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace whorl::model {
namespace {

bool HasPrefix(const Value& value, const std::string& prefix) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr && text->starts_with(prefix);
}

// Compares as many of the key's first columns as the bound has.
std::weak_ordering CompareWithBound(const Key& key, const Row& bound) {
  return CompareKeys(std::span(key).first(std::min(key.size(), bound.size())), bound);
}

bool IsBeforeSpan(const Key& key, const KeySpan& span) {
  const std::weak_ordering order = CompareWithBound(key, span.start);
  return order < 0 || (order == 0 && !span.start_closed);
}

bool IsAfterSpan(const Key& key, const KeySpan& span) {
  const std::weak_ordering order = CompareWithBound(key, span.end);
  return order > 0 || (order == 0 && !span.end_closed);
}

// Drops the versions that no read at or after `oldest_read` can see; true if the row can be
// dropped.
bool Trim(Versions& versions, Timestamp oldest_read) {
  // The newest version at or before the oldest read is still visible to it; earlier ones are not.
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
      return !IsBeforeSpan(key, range.span) && !IsAfterSpan(key, range.span);
  }
  return false;
}

bool KeyOrder::IsBefore(const Key& key, StartOf start) {
  const KeyRange& range = start.range;
  switch (range.kind) {
    case RangeKind::kAll:
      return false;
    case RangeKind::kKey:
      return CompareKeys(key, range.key) < 0;
    case RangeKind::kPrefix:
      return CompareValues(key.front(), Value(range.prefix)) < 0;
    case RangeKind::kNothing:
      return true;
    case RangeKind::kSpan:
      return IsBeforeSpan(key, range.span);
  }
  return false;
}

bool KeyOrder::IsBefore(const Key& key, EndOf end) {
  const KeyRange& range = end.range;
  switch (range.kind) {
    case RangeKind::kAll:
    case RangeKind::kNothing:
      return true;
    case RangeKind::kKey:
      return CompareKeys(key, range.key) <= 0;
    case RangeKind::kPrefix:
      return CompareValues(key.front(), Value(range.prefix)) < 0 ||
             HasPrefix(key.front(), range.prefix);
    case RangeKind::kSpan:
      return !IsAfterSpan(key, range.span);
  }
  return false;
}

const Row* VersionAt(const Versions& versions, std::optional<Timestamp> snapshot) {
  for (size_t i = versions.size(); i-- > 0;) {
    const Version& version = versions[i];
    if (snapshot && version.commit > *snapshot) continue;
    return version.row ? &*version.row : nullptr;
  }
  return nullptr;
}

const Versions* FindStored(const StoredTable& table, std::span<const Value> key) {
  const auto found = table.rows.find(key);
  return found == table.rows.end() ? nullptr : &found->second;
}

const Row* FindAt(const StoredTable& table, std::span<const Value> key,
                  std::optional<Timestamp> snapshot) {
  const Versions* versions = FindStored(table, key);
  return versions == nullptr ? nullptr : VersionAt(*versions, snapshot);
}

RowsOfRange RowsIn(const StoredTable& table, const KeyRange& range) {
  const StoredTable::Rows& rows = table.rows;
  switch (range.kind) {
    case RangeKind::kAll:
      return {.first = rows.begin(), .last = rows.end()};
    case RangeKind::kNothing:
      return {.first = rows.end(), .last = rows.end()};
    case RangeKind::kKey: {
      const auto found = rows.find(range.key);
      return {.first = found, .last = found == rows.end() ? found : std::next(found)};
    }
    case RangeKind::kPrefix:
    case RangeKind::kSpan:
      break;
  }
  const auto first = rows.lower_bound(KeyOrder::StartOf{range});
  // A span may end before it starts.
  const bool is_empty = first == rows.end() || !Contains(range, first->first);
  return {.first = first, .last = is_empty ? first : rows.lower_bound(KeyOrder::EndOf{range})};
}

void Put(StoredTable& table, const Key& key, Version version, Timestamp oldest_read) {
  const auto row = table.rows.try_emplace(key).first;
  row->second.push_back(std::move(version));
  if (Trim(row->second, oldest_read)) table.rows.erase(row);
}

void Collect(StoredTable& table, Timestamp oldest_read) {
  for (auto row = table.rows.begin(); row != table.rows.end();) {
    row = Trim(row->second, oldest_read) ? table.rows.erase(row) : std::next(row);
  }
}

std::optional<Timestamp> OldestReadWithin(std::span<const StoredTable> tables, size_t limit) {
  std::vector<Timestamp> superseded;  // when each old version was replaced or was a deletion
  for (const StoredTable& table : tables) {
    for (const auto& [key, versions] : table.rows) {
      for (size_t i = 1; i < versions.size(); ++i) superseded.push_back(versions[i].commit);
      if (!versions.back().row) superseded.push_back(versions.back().commit);
    }
  }
  if (superseded.size() <= limit) return std::nullopt;
  const auto last_dropped = superseded.end() - static_cast<std::ptrdiff_t>(limit) - 1;
  std::nth_element(superseded.begin(), last_dropped, superseded.end());
  return *last_dropped;
}

}  // namespace whorl::model
