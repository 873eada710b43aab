#include "check/history.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "base/keep_ties.h"

namespace whorl::check {
namespace {

// Equal for a record that was there before; nothing for a line that may be said twice.
std::optional<std::tuple<std::string, Timestamp, int64_t>> IdentityOf(const Operation& operation) {
  if (const auto* row = std::get_if<RowChange>(&operation.what)) {
    return std::tuple("row " + row->lock, row->commit, int64_t{0});
  }
  if (const auto* log_line = std::get_if<LogLine>(&operation.what)) {
    if (!log_line->number) return std::nullopt;
    return std::tuple("by " + log_line->process, log_line->at, *log_line->number);
  }
  const auto& commit_record = std::get<CommitRecord>(operation.what);
  return std::tuple("call " + commit_record.Sender() + " " + commit_record.lock,
                    commit_record.commit, int64_t{0});
}

}  // namespace

Timestamp LikelyTime(const Processes& processes, const std::string& process, Timestamp at) {
  const Process* who = processes.Find(process);
  if (who == nullptr || !who->clock.IsKnown()) return at;
  const Between when = who->clock.TrueTime(at);
  return when.earliest + (when.latest - when.earliest) / 2;
}

void History::Add(const Operation& operation) {
  if (!std::holds_alternative<ProcessDeclaration>(operation.what)) operations_.push_back(operation);
}

std::vector<Moment> History::InOrder(const Processes& processes) const {
  std::vector<Moment> moments;
  std::set<std::tuple<std::string, Timestamp, int64_t>> known;
  for (const Operation& operation : operations_) {
    const auto identity = IdentityOf(operation);
    if (identity && !known.insert(*identity).second) continue;
    Timestamp at;
    if (const auto* row = std::get_if<RowChange>(&operation.what)) {
      at = row->commit;
    } else if (const auto* log_line = std::get_if<LogLine>(&operation.what)) {
      at = LikelyTime(processes, log_line->process, log_line->at);
    } else {
      const auto& commit_record = std::get<CommitRecord>(operation.what);
      at = std::max(commit_record.commit,
                    LikelyTime(processes, commit_record.process, commit_record.received));
    }
    moments.push_back({.at = at, .operation = operation});
  }
  SortKeepingTies(moments, &Moment::at);
  return moments;
}

Timestamp BeginOf(const std::vector<Moment>& moments, const Processes& processes) {
  Timestamp first = moments.front().at;
  for (const Moment& moment : moments) {
    const auto* call = std::get_if<CommitRecord>(&moment.operation.what);
    if (call != nullptr) first = std::min(first, LikelyTime(processes, call->process, call->sent));
  }
  return first - Nanoseconds(first.nanos());
}

}  // namespace whorl::check
