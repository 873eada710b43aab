#include "sim/judge/metrics_collector.h"

#include <algorithm>

namespace whorl::sim {
namespace {

void AddInterval(Metrics& metrics, Metric sum, Metric max, Duration length) {
  metrics[sum] = SaturatingAdd(metrics[sum], length.ns);
  metrics[max] = std::max(metrics[max], length.ns);
}

// Opens or ends an interval, as `open` says; adds its length if it ends.
void SetOpen(std::optional<Instant>& since, bool open, Instant at, Metrics& metrics, Metric sum,
             Metric max) {
  if (open == since.has_value()) return;
  if (!open) AddInterval(metrics, sum, max, at - *since);
  since = open ? std::optional<Instant>(at) : std::nullopt;
}

bool IsTakeover(const VersionChanged& x) {
  return x.last_owner != ProcessId{} && x.last_owner != x.writer;
}

// Whether the old owner was up, connected and renewing: its last heartbeat is younger than its
// lease.
bool IsNeedless(const VersionChanged& x, const Now& now) {
  return now.ledger.IsCandidate(x.last_owner, x.lock, now.setup) && x.last_lease_until &&
         x.commit < *x.last_lease_until;
}

}  // namespace

void MetricsCollector::On(const VersionChanged& x, const Now& now) {
  const bool released = x.after && x.after->released && !(x.before && x.before->released);
  if (released || x.kind == TokenChange::kReleased) {
    ++metrics[Sometimes::kRelease];
  }
  if (x.kind != TokenChange::kGranted || x.writer == ProcessId{}) return;
  locks[x.lock].writes.granted_at = now.at;
  ++metrics[Metric::kGrants];
  if (!IsTakeover(x)) return;
  Count(Metric::kTakeovers, Sometimes::kTakeover);
  if (IsNeedless(x, now)) Count(Metric::kNeedlessTakeovers, Sometimes::kNeedlessTakeover);
}

void MetricsCollector::On(const WriteArrived& x, const Now& now) {
  const bool legitimate = locks[x.lock].writes.Arrive(x, now.ledger.OwnerOf(x.lock), now.at);
  if (!x.accepted) {
    legitimate ? Count(Metric::kLegitimateWriteRefused, Sometimes::kLegitimateWriteRefused)
               : Count(Metric::kStaleWriteRefused, Sometimes::kStaleWriteRefused);
  } else if (!x.fenced && !legitimate) {
    ++metrics[Metric::kStaleWriteAccepted];
  }
}

void MetricsCollector::On(const TransactionLeft& x, const Now&) {
  if (x.outcome == Outcome::kUnknown) {
    ++metrics[Sometimes::kUnknownOutcome];
  } else if (x.hung) {
    ++metrics[Sometimes::kUnknownResolved];
  }
}

void MetricsCollector::UpdateIntervals(uint16_t lock, const Now& now) {
  SetOpen(locks[lock].without_holder_since, now.ledger.AnsweredCount(lock) == 0, now.at, metrics,
          Metric::kWithoutHolderSum, Metric::kWithoutHolderMax);
  SetOpen(locks[lock].overlap_since, now.ledger.BelieverCount(lock) > 1, now.at, metrics,
          Metric::kBeliefOverlapSum, Metric::kBeliefOverlapMax);
  SetOpen(locks[lock].work_overlap_since, now.ledger.WorkerCount(lock) > 1, now.at, metrics,
          Metric::kWorkOverlapSum, Metric::kWorkOverlapMax);
}

Metrics MetricsCollector::Until(Instant end) const {
  Metrics all = metrics;
  for (const OfLock& lock : locks) {
    if (lock.without_holder_since) {
      AddInterval(all, Metric::kWithoutHolderSum, Metric::kWithoutHolderMax,
                  end - *lock.without_holder_since);
    }
    if (lock.overlap_since) {
      AddInterval(all, Metric::kBeliefOverlapSum, Metric::kBeliefOverlapMax,
                  end - *lock.overlap_since);
    }
    if (lock.work_overlap_since) {
      AddInterval(all, Metric::kWorkOverlapSum, Metric::kWorkOverlapMax,
                  end - *lock.work_overlap_since);
    }
  }
  return all;
}

}  // namespace whorl::sim
