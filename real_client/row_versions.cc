#include "real_client/row_versions.h"

#include <algorithm>
#include <utility>

namespace whorl::real_client {
namespace {

constexpr Duration kCommitTick = Microseconds(1);

// The newest time that a version names, if it may be its commit timestamp.
std::optional<Timestamp> NamedBy(const std::optional<Row>& row, Timestamp from, Timestamp to) {
  std::optional<Timestamp> newest;
  if (!row) return newest;
  for (const Value& value : *row) {
    const auto* time = std::get_if<Timestamp>(&value);
    if (time == nullptr || *time <= from || *time > to) continue;
    if (*time != time->TruncatedToMicros()) continue;
    newest = std::max(newest.value_or(*time), *time);
  }
  return newest;
}

Timestamp MiddleOf(Timestamp from, Timestamp to) {
  return std::max(from + kCommitTick, (from + (to - from) / 2).TruncatedToMicros());
}

}  // namespace

RowVersions::RowVersions(size_t key_column, Timestamp from, Timestamp to, Duration step)
    : key_column_(key_column),
      from_(from),
      to_(to),
      step_(step),
      asked_to_(from),
      reached_(Timestamp::Min()) {
  steps_.push_back({.from = from, .to = from, .table = {}, .changes = {}});
  Ask(0, from, std::nullopt);
}

std::string RowVersions::TextOf(const Value& key) {
  const auto* number = std::get_if<int64_t>(&key);
  return number != nullptr ? std::to_string(*number) : std::get<std::string>(key);
}

void RowVersions::Ask(uint64_t step, Timestamp at, std::optional<Gap> gap) {
  ++At(step).open;
  asked_[++last_read_] = {.at = at, .step = step, .gap = std::move(gap)};
}

void RowVersions::AskGrid() {
  const Timestamp from = asked_to_;
  asked_to_ = to_ - from > step_ ? (from + step_).TruncatedToMicros() : to_;
  steps_.push_back({.from = from, .to = asked_to_, .table = {}, .changes = {}});
  Ask(given_ + steps_.size() - 1, asked_to_, std::nullopt);
}

std::vector<RowVersions::Read> RowVersions::TakeReads(size_t most) {
  std::vector<Read> reads;
  const auto take = [&] {
    for (auto& [id, asked] : asked_) {
      if (under_way_ >= most) return;
      if (std::exchange(asked.is_sent, true)) continue;
      ++under_way_;
      reads.push_back({.id = id, .at = asked.at, .key = {}});
      if (asked.gap) reads.back().key = KeyOf(*asked.gap);
    }
  };
  take();
  // No more steps than reads, so that what waits for a slow one does not pile up.
  while (under_way_ < most && asked_to_ < to_ && steps_.size() < most) {
    AskGrid();
    take();
  }
  return reads;
}

void RowVersions::Break(uint64_t read) {
  asked_.at(read).is_sent = false;
  --under_way_;
}

void RowVersions::Add(uint64_t read, std::vector<Row> rows) {
  const auto found = asked_.extract(read);
  const Asked& asked = found.mapped();
  --under_way_;
  --At(asked.step).open;
  if (asked.gap) {
    const Gap& gap = *asked.gap;
    std::optional<Row> row;
    if (!rows.empty()) row = std::move(rows.front());
    Resolve(asked.step, {.from = gap.from, .before = gap.before, .to = asked.at, .after = row});
    Resolve(asked.step, {.from = asked.at, .before = row, .to = gap.to, .after = gap.after});
    return;
  }
  Table& table = At(asked.step).table.emplace();
  for (Row& row : rows) {
    std::string key = TextOf(row[key_column_]);
    table.emplace(std::move(key), std::move(row));
  }
  Compare();
}

void RowVersions::Compare() {
  while (compared_ < given_ + steps_.size() && At(compared_).table) {
    Table table = *std::exchange(At(compared_).table, std::nullopt);
    if (table_) CompareRows(compared_, *table_, table);
    At(compared_).is_compared = true;
    ++compared_;
    table_ = std::move(table);
  }
}

void RowVersions::CompareRows(uint64_t step, const Table& before, const Table& after) {
  const auto compare = [&](const Row* was, const Row* is) {
    Resolve(step, {.from = At(step).from,
                   .before = was == nullptr ? std::nullopt : std::optional(*was),
                   .to = At(step).to,
                   .after = is == nullptr ? std::nullopt : std::optional(*is)});
  };
  for (const auto& [key, row] : after) {
    const auto was = before.find(key);
    compare(was == before.end() ? nullptr : &was->second, &row);
  }
  for (const auto& [key, row] : before) {
    if (!after.contains(key)) compare(&row, nullptr);
  }
}

void RowVersions::Resolve(uint64_t step, Gap gap) {
  if (gap.before == gap.after) return;
  if (gap.to - gap.from <= kCommitTick) {
    At(step).changes.push_back(
        {.commit = gap.to, .before = std::move(gap.before), .after = std::move(gap.after)});
    return;
  }
  const std::optional<Timestamp> named = NamedBy(gap.after, gap.from, gap.to);
  Timestamp at = named.value_or(MiddleOf(gap.from, gap.to));
  // The row was there at gap.to: the next read tells whether it was there a tick before.
  if (at == gap.to) at = at - kCommitTick;
  Ask(step, at, std::move(gap));
}

void RowVersions::Give(Change change, Found& found) {
  const Value key = KeyOf(change);
  if (!change.before) {
    const auto gone = gone_.extract(TextOf(key));
    const Timestamp since = gone.empty() ? from_ : gone.mapped().since;
    const Timestamp until = change.commit - kCommitTick;
    if (since < until) found.unseen.push_back({.key = key, .from = since, .to = until});
  }
  if (!change.after) gone_[TextOf(key)] = {.key = key, .since = change.commit};
  found.changes.push_back(std::move(change));
}

RowVersions::Found RowVersions::Take() {
  Found found;
  while (!steps_.empty() && steps_.front().is_compared && steps_.front().open == 0) {
    Step step = std::move(steps_.front());
    steps_.pop_front();
    ++given_;
    // In one order, whatever order the answers came in.
    std::ranges::sort(step.changes, {}, [&](const Change& change) {
      return std::pair(change.commit, TextOf(KeyOf(change)));
    });
    for (Change& change : step.changes) Give(std::move(change), found);
    reached_ = step.to;
  }
  if (!IsDone()) return found;
  for (const auto& [text, gone] : gone_) {
    if (gone.since < to_) found.unseen.push_back({.key = gone.key, .from = gone.since, .to = to_});
  }
  gone_.clear();
  return found;
}

}  // namespace whorl::real_client
