#include "live/row_changes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace whorl::live {
namespace {

using RowsByKey = std::map<std::string, const Row*>;
RowsByKey ByKey(const std::vector<Row>& rows, size_t key) {
  RowsByKey by_key;
  for (const Row& row : rows) by_key[FormatValue(row[key])] = &row;
  return by_key;
}

}  // namespace

std::vector<sim::RowCommitted> ChangesBetween(const std::vector<Row>& before,
                                              const std::vector<Row>& after, size_t key) {
  const RowsByKey old_rows = ByKey(before, key);
  const RowsByKey new_rows = ByKey(after, key);
  std::set<std::string> keys;
  for (const auto& [name, row] : old_rows) keys.insert(name);
  for (const auto& [name, row] : new_rows) keys.insert(name);
  std::vector<sim::RowCommitted> changes;
  for (const std::string& name : keys) {
    const auto old_row = old_rows.find(name);
    const auto new_row = new_rows.find(name);
    sim::RowCommitted change;
    if (old_row != old_rows.end()) change.before = *old_row->second;
    if (new_row != new_rows.end()) change.after = *new_row->second;
    if (change.before != change.after) changes.push_back(std::move(change));
  }
  return changes;
}

bool SameRows(std::vector<Row> a, std::vector<Row> b, size_t key) {
  const auto key_of = [key](const Row& row) { return FormatValue(row[key]); };
  std::ranges::sort(a, {}, key_of);
  std::ranges::sort(b, {}, key_of);
  return a == b;
}

}  // namespace whorl::live
