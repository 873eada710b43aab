// What a row was before a change, by what was recorded of it, and how long its owner's lease lasts.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "check/known_row.h"
#include "check/rows.h"

namespace whorl::check {
namespace {

// A time of a whole second may be cut (known_row.h), unless it is the commit's own.
Timestamp LatestOf(Timestamp time, Timestamp commit) {
  const bool may_be_cut = time.nanos() == 0 && time != commit;
  return may_be_cut ? time + Nanoseconds(999'999'999) : time;
}

// Whether an update's record says anything of the row before. If it does, columns that it does not name did not
// change.
bool SaysOld(const ProtocolInfo& protocol, const KnownRow& before) {
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i] && !protocol.columns[i].key) return true;
  }
  return false;
}

// Whether the row may have been `before`, by all columns that are known of both.
bool Agrees(const KnownRow& known, const KnownRow& before) {
  for (size_t i = 0; i < before.size() && i < known.size(); ++i) {
    if (before[i] && known[i] && !MayBe(*before[i], *known[i])) return false;
  }
  return true;
}

}  // namespace

std::optional<Between> Rows::LeaseUntil(const KnownRow& columns, const std::string& owner,
                                        Timestamp commit) const {
  std::optional<Duration> least = lease_;
  std::optional<Duration> most = lease_;
  if (const Process* process = processes_.Find(owner); process != nullptr && process->lease) {
    least = process->lease_least;
    most = process->lease_most;
  }
  const std::optional<size_t> lease_ms = rules_.lease_until.lease_ms;
  const bool row_says = lease_ms && columns[*lease_ms] && !IsNull(*columns[*lease_ms]);
  if (!least && !row_says) return std::nullopt;
  const auto until = [&](const whorl::Row& row, std::optional<Duration> lease) {
    return rules_.lease_until(row, lease ? rules_.lease_used(*lease) : Duration{});
  };
  whorl::Row row = Whole(columns);
  const std::optional<Timestamp> earliest = until(row, least);
  for (Value& value : row) {
    if (auto* time = std::get_if<Timestamp>(&value); time != nullptr) {
      *time = LatestOf(*time, commit);
    }
  }
  const std::optional<Timestamp> latest = until(row, most);
  if (!earliest || !latest) return std::nullopt;
  return Between{.earliest = *earliest, .latest = *latest};
}

void Rows::TakeFrom(const KnownRow& columns, Timestamp commit, Row& row) const {
  row.columns = columns;
  const whorl::Row whole = Whole(columns);
  const auto& holder = columns[rules_.HolderColumn()];
  row.is_known = holder.has_value();
  row.held = IsHeld(columns);
  row.token = rules_.token_column ? Token::In(whole[*rules_.token_column]) : std::nullopt;
  row.owner = row.held ? OwnerIn(columns) : std::string();
  row.owner_is_certain = false;
  row.released = row.held && rules_.is_released(whole);
  row.lease_least.reset();
  row.lease_most.reset();
  const auto until = row.held ? LeaseUntil(columns, row.owner, commit) : std::nullopt;
  if (until) row.lease_most = until->latest;
  if (row.token && (!row.greatest || *row.token > *row.greatest)) row.greatest = row.token;
}

void Rows::LastsFor(const std::optional<Between>& until, Row& row) {
  row.lease_least = until ? std::optional(until->earliest) : std::nullopt;
  row.lease_most = until ? std::optional(until->latest) : std::nullopt;
}

void Rows::BeganBefore(const std::string& lock, const Row& row) {
  // Any process may own a row whose past is unknown.
  if (row.is_known && row.owner.empty() && !row.token) return;
  ownership_.Began(lock, {.owner = row.owner,
                          .token = row.token ? std::optional(row.token->Number()) : std::nullopt});
}

void Rows::Learn(const RowChange& change, Row& row) {
  if (row.is_known) return;
  KnownRow columns = row.columns;
  for (size_t i = 0; i < columns.size() && i < change.before.size(); ++i) {
    if (!columns[i]) columns[i] = change.before[i];
  }
  TakeFrom(columns, row.last_commit.value_or(change.commit), row);
  if (!row.is_known) return;
  ownership_.Ended(change.lock, change.commit, std::nullopt);
  BeganBefore(change.lock, row);
}

void Rows::Fit(const RowChange& change, bool is_first, Row& row, HistoryMetrics& metrics) {
  const bool was_there = !row.columns.empty();
  const bool wants_row = change.kind != RowChangeKind::kInserted;
  // What was recorded before has to lead here.
  const bool fits = wants_row ? was_there && Agrees(row.columns, change.before) : !was_there;
  if (fits) {
    if (wants_row) Learn(change, row);
    return;
  }
  if (!is_first) {
    ++metrics.gaps;
    Missing(Cat("changes of lock ", Quoted(change.lock), " before ", FormatRfc3339(change.commit),
                " are missing"),
            std::string(kRecordAll));
    ownership_.Gap(change.lock, change.commit);
  }
  if (!wants_row || change.before.empty()) {
    ownership_.Ended(change.lock, change.commit, std::nullopt);
    row.columns.clear();
    row.held = false;
    row.is_known = true;
    row.owner.clear();
    return;
  }
  const Row last = row;
  KnownRow before = change.before;
  for (size_t i = 0; i < change.after.size(); ++i) {
    if (!before[i]) before[i] = change.after[i];
  }
  TakeFrom(before, change.commit, row);
  if (row.held && change.kind == RowChangeKind::kUpdated && !SaysOld(protocol_, change.before)) {
    lease_respected_.Missing(
        Cat("who held lock ", Quoted(change.lock), " before ", FormatRfc3339(change.commit),
            ", when it was changed for the first time, is not recorded"),
        std::string(kRecordAll));
  }
  const bool is_the_same = last.held && row.held && last.token && last.token == row.token;
  if (is_the_same) {
    // Only renewals are missing: the process that took it has it.
    row.owner = last.owner;
    row.owner_is_certain = last.owner_is_certain;
    return;
  }
  ownership_.Ended(change.lock, change.commit, std::nullopt);
  BeganBefore(change.lock, row);
}

}  // namespace whorl::check
