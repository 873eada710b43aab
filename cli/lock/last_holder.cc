#include "cli/lock/last_holder.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "real_client/lock_table.h"
#include "real_client/version_client.h"

namespace whorl::cli {
namespace {

using real_client::Holding;
using real_client::RowVersions;
using real_client::VersionClient;

// Reads one row as it was before and after one commit.
class RowBefore final : public real_client::VersionObserver {
 public:
  RowBefore(const LockRequest& request, const Holding& holding) : commit_(*holding.last_until) {
    // One that cannot be opened leaves the row unknown, as one that is not answered does.
    const Status opened =
        VersionClient::Open({.database = request.database,
                             .database_role = request.database_role,
                             .connection = ClientOptionsOf(request).connection,
                             .protocol = &request.info(),
                             .table = request.table,
                             .key = holding.lock,
                             .from = commit_.TruncatedToMicros() - Microseconds(1),
                             .to = commit_.TruncatedToMicros()},
                            *this, client_);
    if (!opened.ok()) OnEnd(opened);
  }

  // Waits for the answer. Nothing if the row is not known.
  std::optional<Row> Wait(std::chrono::steady_clock::time_point until) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, until, [this] { return has_ended_; });
    return row_;
  }

  void OnVersions(RowVersions::Found found, Timestamp /*reached*/) override {
    const std::lock_guard lock(mutex_);
    for (RowVersions::Change& change : found.changes) {
      if (change.commit == commit_) row_ = std::move(change.before);
    }
  }
  void OnEnd(Status /*status*/) override {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    changed_.notify_all();
  }

 private:
  const Timestamp commit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_ended_ = false;                 // guarded by mutex_
  std::optional<Row> row_;                 // likewise
  std::unique_ptr<VersionClient> client_;  // last: it calls this object until it is gone
};

// The id in the holder's column; empty if there is none.
std::string HolderIn(const ProtocolInfo& info, const Row& row) {
  const auto column =
      std::ranges::find(info.columns, info.holder_columns.holder, &ColumnInfo::name);
  if (column == info.columns.end()) return {};
  const auto* text =
      std::get_if<std::string>(&row[static_cast<size_t>(column - info.columns.begin())]);
  return text == nullptr ? std::string() : real_client::IdIn(*text);
}

}  // namespace

std::map<std::string, std::string> LastHolders(const LockRequest& request,
                                               const std::vector<Holding>& holdings) {
  constexpr std::chrono::seconds kMost(5);
  const auto until = std::chrono::steady_clock::now() + kMost;
  std::map<std::string, std::string> holders;
  std::vector<std::pair<std::string, std::unique_ptr<RowBefore>>> reads;
  for (const Holding& holding : holdings) {
    if (!holding.last_until) continue;
    if (!holding.holder.empty()) {
      holders[holding.lock] = holding.holder;
    } else if (reads.size() < kLastHoldersRead) {
      reads.emplace_back(holding.lock, std::make_unique<RowBefore>(request, holding));
    }
  }
  for (const auto& [lock, read] : reads) {
    const std::optional<Row> row = read->Wait(until);
    std::string holder = row ? HolderIn(request.info(), *row) : std::string();
    if (!holder.empty()) holders[lock] = std::move(holder);
  }
  return holders;
}

}  // namespace whorl::cli
