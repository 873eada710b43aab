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
  NoteRenewal(x, now);
  if (x.kind != TokenChange::kGranted || x.writer == ProcessId{}) return;
  OfLock& lock = locks[x.lock];
  lock.writes.granted_at = now.at;
  if (lock.granted_to != x.writer) {
    lock.granted_to = x.writer;
    lock.granted_at = now.at;
  }
  ++metrics[Metric::kGrants];
  if (!IsTakeover(x)) return;
  Count(Metric::kTakeovers, Sometimes::kTakeover);
  if (IsNeedless(x, now)) Count(Metric::kNeedlessTakeovers, Sometimes::kNeedlessTakeover);
}

void MetricsCollector::NoteRenewal(const VersionChanged& x, const Now& now) {
  OfLock& lock = locks[x.lock];
  if (!x.after || !x.after->held || x.after->owner != x.writer || x.writer == ProcessId{}) {
    if (!x.after || !x.after->held) lock.renewed_at.reset();
    return;
  }
  const bool goes_on = x.before && x.before->owner == x.writer && lock.renewed_at;
  if (goes_on) {
    const Duration lease = now.setup.Node(x.writer.node).lease;
    const Duration gap = now.at - *lock.renewed_at;
    int64_t& most = metrics[Metric::kRenewalPercentMax];
    most = std::max(most, gap.ns / std::max<int64_t>(lease.ns / 100, 1));
  }
  lock.renewed_at = now.at;
}

void MetricsCollector::On(const BeliefBegan& x, const Now& now) {
  OfLock& lock = locks[x.lock];
  if (lock.granted_to != x.process) return;
  int64_t& longest = metrics[Metric::kGrantToBeliefMax];
  longest = std::max(longest, (now.at - lock.granted_at).ns);
  lock.granted_to = {};
}

void MetricsCollector::On(const CallSent& x, const Now& now) {
  ++metrics[Metric::kRpcs];
  OfPart& part = parts[now.setup.ParticipationIndex(x.call.process.node, x.call.lock)];
  if (now.at - part.second >= Seconds(1)) part = {.second = now.at, .in_second = 0};
  int64_t& most = metrics[Metric::kCallsInSecondMax];
  most = std::max(most, ++part.in_second);
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
