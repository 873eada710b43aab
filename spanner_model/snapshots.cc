// Reads as of a time: the timestamp that a bound means, and when the read can be answered.
//
// A strong read takes the newest time at which nothing is committing, so on one split it never
// waits. Over several splits it may have to wait: a commit that is visible on one split can be
// later than one that is still under way on another.
#include "spanner_model/database_work.h"

namespace whorl::model {
namespace {

constexpr Duration kFarthestFuture = Seconds(3600);

bool Touches(const Work& work, const TransactionState& transaction, SplitRange splits) {
  const auto& points = work.catalogue.options().split_points;
  if (points.empty()) return true;
  return std::any_of(transaction.writes.begin(), transaction.writes.end(),
                     [&](const BufferedWrite& write) {
                       const uint32_t split = SplitOf(points, write.table, write.key);
                       return splits.first <= split && split <= splits.last;
                     });
}

// The least timestamp of the commits on these splits that are not visible yet.
std::optional<Timestamp> FirstCommitting(const Work& work, SplitRange splits) {
  std::optional<Timestamp> first;
  for (const TransactionState& other : work.database.transactions) {
    if (other.phase != TransactionPhase::kCommitting || !Touches(work, other, splits)) continue;
    first = std::min(first.value_or(other.commit_timestamp), other.commit_timestamp);
  }
  return first;
}

Timestamp StrongTimestamp(const Work& work, SplitRange splits) {
  Timestamp chosen = work.leaders[splits.first].truetime.latest.TruncatedToMicros();
  if (const auto committing = FirstCommitting(work, splits)) {
    chosen = std::min(chosen, *committing - Microseconds(1));
  }
  for (uint32_t split = splits.first; split <= splits.last; ++split) {
    chosen = std::max(chosen, work.database.splits[split].last_visible);
  }
  return chosen;
}

// Whether a commit that is at or after it is visible on each of the splits. No later one there is before
// it, so whatever clocks show, what was committed by then is known.
bool IsPastEverywhere(const Work& work, Timestamp time, SplitRange splits) {
  for (uint32_t split = splits.first; split <= splits.last; ++split) {
    if (work.database.splits[split].last_visible < time) return false;
  }
  return true;
}

Status CheckExact(const Work& work, Timestamp chosen) {
  const Timestamp now = ServerTime(work);
  if (chosen - now > kFarthestFuture) {
    return Error(Code::kDeadlineExceeded, "Read-only transaction timestamp " +
                                              FormatRfc3339(chosen) +
                                              " is more than 1 hour in future");
  }
  if (now.TruncatedToMicros() - chosen > work.catalogue.options().version_retention ||
      chosen < work.database.collected) {
    return Error(Code::kFailedPrecondition, "Read-only transaction timestamp " +
                                                FormatRfc3339(chosen) +
                                                " has exceeded the maximum timestamp staleness");
  }
  return {};
}

std::variant<Timestamp, Status> Exact(const Work& work, Timestamp chosen) {
  if (Status status = CheckExact(work, chosen); !status.ok()) return status;
  return chosen;
}

// The newest time of the lagging replica, but not before the bound.
Timestamp Bounded(const Work& work, Timestamp oldest, SplitRange splits) {
  const Timestamp shown = StrongTimestamp(work, splits) - work.catalogue.options().replica_lag;
  return std::max(oldest, shown);
}

}  // namespace

SplitRange AllSplits(const Work& work) {
  return {.first = 0, .last = work.catalogue.split_count() - 1};
}

std::variant<Timestamp, Status> ChooseReadTimestamp(const Work& work, const TimestampBound& bound,
                                                    SplitRange splits, bool single_use) {
  const bool bounded =
      bound.kind == BoundKind::kMaxStaleness || bound.kind == BoundKind::kMinReadTimestamp;
  if (bounded && !single_use) {
    const char* name =
        bound.kind == BoundKind::kMaxStaleness ? "max_staleness" : "min_read_timestamp";
    return Error(Code::kInvalidArgument,
                 std::string("Timestamp bound: ") + name +
                     " for read can be only be used for a single use transaction.");
  }
  if (bound.staleness.ns < 0) {
    return Error(Code::kInvalidArgument, "Staleness must be non-negative.");
  }
  const Timestamp stale = ServerTime(work).TruncatedToMicros() - bound.staleness;
  switch (bound.kind) {
    case BoundKind::kStrong:
      return StrongTimestamp(work, splits);
    case BoundKind::kReadTimestamp:
      return Exact(work, bound.timestamp);
    case BoundKind::kExactStaleness:
      return Exact(work, stale);
    case BoundKind::kMinReadTimestamp:
      return Exact(work, Bounded(work, bound.timestamp, splits));
    case BoundKind::kMaxStaleness:
      return Exact(work, Bounded(work, stale, splits));
  }
  return StrongTimestamp(work, splits);
}

bool CanReadAt(Work& work, Timestamp read_timestamp, SplitRange splits) {
  if (ServerTime(work) < read_timestamp && !IsPastEverywhere(work, read_timestamp, splits)) {
    LookAt(work, read_timestamp);
    return false;
  }
  const auto committing = FirstCommitting(work, splits);
  return !committing || *committing > read_timestamp;
}

void RememberReadAt(Work& work, Timestamp read_timestamp, SplitRange splits) {
  for (uint32_t split = splits.first; split <= splits.last; ++split) {
    Timestamp& last = work.database.splits[split].last_read;
    last = std::max(last, read_timestamp);
  }
}

void WaitToRead(Work& work, const CallName& call, const Request& request,
                Timestamp read_timestamp) {
  work.database.waiting_reads.push_back(
      {.call = call, .request = request, .read_timestamp = read_timestamp});
}

std::optional<Timestamp> OldestOpenRead(const Work& work) {
  std::optional<Timestamp> oldest;
  for (const TransactionState& transaction : work.database.transactions) {
    if (!transaction.snapshot) continue;
    oldest = std::min(oldest.value_or(*transaction.snapshot), *transaction.snapshot);
  }
  for (const WaitingRead& read : work.database.waiting_reads) {
    oldest = std::min(oldest.value_or(read.read_timestamp), read.read_timestamp);
  }
  return oldest;
}

Timestamp OldestRead(const Work& work) {
  const Timestamp kept = ServerTime(work) - work.catalogue.options().version_retention;
  return std::min(kept, OldestOpenRead(work).value_or(kept));
}

}  // namespace whorl::model
