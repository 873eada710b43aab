#include "check/resume_rows.h"

#include <algorithm>
#include <utility>

#include "check/known_row.h"

namespace whorl::check {
namespace {

sim::Json ColumnJson(const Value& value) {
  if (IsNull(value)) return nullptr;
  if (const auto* time = std::get_if<Timestamp>(&value)) return FormatRfc3339(*time);
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  return std::get<std::string>(value);
}

}  // namespace

void ResumeRows::Add(const RowChange& change) {
  const auto [place, is_first] = rows_.try_emplace(change.lock);
  Row& row = place->second;
  RowChange newest = change;
  newest.before.assign(change.after.size(), std::nullopt);
  const KnownRow& before = is_first ? change.before : row.newest.after;
  if (change.kind == RowChangeKind::kDeleted) {
    row.newest = std::move(newest);
    return;
  }
  if (change.kind == RowChangeKind::kUpdated) FillIn(newest.after, before, protocol_);
  const size_t holder = rules_.HolderColumn();
  const size_t owner = rules_.owner_column;
  const auto differs = [&](size_t column) {
    return before.size() > column && before[column] && newest.after[column] &&
           !MayBe(*before[column], *newest.after[column]);
  };
  const bool is_inserted = change.kind == RowChangeKind::kInserted;
  // The token of another process, though it may look the same.
  const bool is_cut = rules_.token_column && before.size() > holder && before[holder] &&
                      newest.after[holder] &&
                      MayBeAnotherToken(*newest.after[holder], *before[holder], protocol_) &&
                      NamesAnother(newest.after, before, protocol_);
  if (is_inserted || is_cut || differs(holder) || (!rules_.token_column && differs(owner))) {
    row.taken = newest;
    row.taken->kind = RowChangeKind::kInserted;
  }
  row.newest = std::move(newest);
}

std::vector<RowChange> ResumeRows::Changes() const {
  std::vector<RowChange> changes;
  for (const auto& [lock, row] : rows_) {
    const bool is_newest = row.taken && row.taken->commit == row.newest.commit;
    if (row.taken) changes.push_back(*row.taken);
    if (!is_newest) changes.push_back(row.newest);
  }
  std::ranges::sort(changes, {}, [](const RowChange& x) { return std::pair(x.commit, x.lock); });
  return changes;
}

sim::Json RecordJson(const ProtocolInfo& protocol, const RowChange& change) {
  sim::Json keys = sim::Json::object();
  sim::Json values = sim::Json::object();
  for (size_t i = 0; i < protocol.columns.size(); ++i) {
    const std::string name(protocol.columns[i].name);
    if (protocol.columns[i].key) {
      keys[name] = change.lock;
    } else if (i < change.after.size() && change.after[i]) {
      values[name] = ColumnJson(*change.after[i]);
    }
  }
  const char* kind = change.kind == RowChangeKind::kInserted  ? "INSERT"
                     : change.kind == RowChangeKind::kUpdated ? "UPDATE"
                                                              : "DELETE";
  return {{"commit_timestamp", FormatRfc3339(change.commit)},
          {"mod_type", kind},
          {"mods", sim::Json::array({{{"keys", keys}, {"new_values", values}}})}};
}

}  // namespace whorl::check
