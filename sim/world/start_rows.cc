#include "sim/world/start_rows.h"

#include <algorithm>
#include <cstddef>

#include "protocol/protocols.h"
#include "sim/scenario/rules.h"

namespace whorl::sim {
namespace {

// Makes a complete row from the columns that a scenario names.
Row CompleteRow(const ProtocolInfo& protocol, const RowSpec& spec) {
  Row row(protocol.columns.size(), Null{});
  for (size_t i = 0; i < spec.columns.size(); ++i) {
    const auto column = std::ranges::find(protocol.columns, spec.columns[i], &ColumnInfo::name);
    row[static_cast<size_t>(column - protocol.columns.begin())] = spec.values[i];
  }
  return row;
}

}  // namespace

std::vector<Row> RowsOfTheStart(const Scenario& scenario) {
  const ProtocolInfo& protocol = *FindProtocol(scenario.protocol);
  std::vector<Row> rows;
  for (const RowSpec& spec : scenario.rows) rows.push_back(CompleteRow(protocol, spec));
  const Row& init = protocol.init_row;
  if (init.empty()) return rows;
  const size_t key = RulesOf(scenario.protocol).key_column;
  const bool has_another =
      std::ranges::any_of(rows, [&](const Row& row) { return row[key] == init[key]; });
  if (!has_another) rows.insert(rows.begin(), init);
  return rows;
}

RowCommitted RowOfTheStart(const Row& row, Timestamp at_least) {
  RowCommitted committed;
  committed.after = row;
  committed.commit = at_least;
  for (const Value& value : row) {
    const auto* time = std::get_if<Timestamp>(&value);
    if (time != nullptr) committed.commit = std::max(committed.commit, *time);
  }
  return committed;
}

}  // namespace whorl::sim
