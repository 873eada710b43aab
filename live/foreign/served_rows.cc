#include "live/foreign/served_rows.h"

#include <algorithm>
#include <utility>

#include "check/record_reader.h"

namespace whorl::live {
namespace {

// Where the protocol's columns are in the table; empty: it lacks one.
std::vector<size_t> PlacesOf(const ProtocolInfo& protocol, const server::ServedChange& change) {
  std::vector<size_t> places;
  const auto& columns = change.table.columns;
  for (const ColumnInfo& wanted : protocol.columns) {
    const auto found = std::ranges::find_if(columns, [&](const auto& column) {
      return check::IsNamed(column.name, wanted.name) && column.type == wanted.type;
    });
    if (found == columns.end()) return {};
    places.push_back(static_cast<size_t>(found - columns.begin()));
  }
  return places;
}

std::optional<Row> Ordered(const std::optional<Row>& row, const std::vector<size_t>& places) {
  if (!row) return std::nullopt;
  Row ordered;
  ordered.reserve(places.size());
  for (const size_t place : places) ordered.push_back((*row)[place]);
  return ordered;
}

}  // namespace

void ServedRows::OnChange(const server::ServedChange& change) {
  if (!check::IsNamed(change.table.name, table_)) return;
  const std::vector<size_t> places = PlacesOf(protocol_, change);
  if (places.empty()) return;
  CommittedRow row = {.database = change.database,
                      .commit = change.commit,
                      .before = Ordered(change.before, places),
                      .after = Ordered(change.after, places)};
  const std::lock_guard lock(mutex_);
  rows_.push_back(std::move(row));
}

std::vector<CommittedRow> ServedRows::Take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(rows_, {});
}

}  // namespace whorl::live
