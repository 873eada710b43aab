#include "sim/measure/takeover_observer.h"

#include <algorithm>
#include <array>
#include <variant>

#include "protocol/spanner/rpc.h"
#include "sim/judge/ledger.h"
#include "sim/world/latency.h"
#include "sim/world/mix.h"

namespace whorl::sim {
namespace {

// Request::index() of a Commit.
const auto kCommitCall = static_cast<uint8_t>(Request(Commit{}).index());

constexpr int kDraws = 20'001;  // odd, so the median is one of them

}  // namespace

MedianTimes MedianTimesOf(Preset preset, Duration epsilon) {
  const Latencies& latencies = LatenciesOf(preset);
  // To Spanner; replication, but at least the commit wait; and back. No table has the median of
  // this sum, so it is computed from many draws, always the same ones.
  std::array<int64_t, kDraws> commits{};
  uint64_t n = 0;
  for (int64_t& commit : commits) {
    const Duration to = Pick(latencies.one_way, Mix(kGolden * ++n));
    const Duration replication = Pick(latencies.replication, Mix(kGolden * ++n));
    const Duration from = Pick(latencies.one_way, Mix(kGolden * ++n));
    commit = (to + std::max(replication, epsilon * 2) + from).ns;
  }
  const auto middle = commits.begin() + kDraws / 2;
  std::nth_element(commits.begin(), middle, commits.end());
  constexpr uint64_t kHalf = uint64_t{1} << 63;
  return {.commit = {*middle}, .resource = Pick(latencies.resource, kHalf)};
}

TakeoverObserver::TakeoverObserver(const Scenario& scenario, TakeoverFault fault, MedianTimes times)
    : scenario_(scenario),
      fault_(fault),
      times_(times),
      rules_(RulesOf(scenario.protocol)),
      key_(rules_.row_key(scenario.locks.front())),
      lease_(rules_.lease_used(scenario.nodes.front().lease)) {}

void TakeoverObserver::Hear(const Observation& observation, uint64_t /*ordinal*/,
                            uint64_t /*hash*/) {
  now_ = observation.at;
  std::visit([this](const auto& x) { On(x); }, observation.what);
}

bool TakeoverObserver::HasEnough() const { return struck_ == scenario_.faults.size() && !open_; }

TakeoverRun TakeoverObserver::Finish() {
  if (struck_ < scenario_.faults.size()) run_.spoilt = 1;
  if (open_ && !open_->granted && owner_ == open_->old &&
      (ShouldKeep(fault_) || fault_ == TakeoverFault::kSpannerUnavailable)) {
    ++run_.kept;
  } else if (open_) {
    ++run_.missing;
  }
  open_.reset();
  if (run_.spoilt != 0) run_.takeovers.clear();
  return std::move(run_);
}

void TakeoverObserver::On(const FaultBegan& x) {
  ++struck_;
  const FaultSpec& fault = scenario_.faults[x.fault];
  const bool strikes_leader = fault.node < 0 || fault.node == owner_.node;
  if (fault_ == TakeoverFault::kDeployment) {
    // Most pods are followers, and one may be stopped while a takeover from another goes on.
    if (!strikes_leader || open_) return;
  } else if (!strikes_leader || owner_ == ProcessId{}) {
    run_.spoilt = 1;
    return;
  }
  const auto* unavailable = fault.As<UnavailableFault>();
  open_ = Open{.old = owner_,
               .since = now_,
               .outage = unavailable != nullptr ? unavailable->lasts : Duration{},
               .granted = {},
               .lapsed = owner_believes_ ? std::nullopt : std::optional(now_)};
}

void TakeoverObserver::On(const CallSent& x) {
  if (x.request == kCommitCall) sent_.try_emplace(AttemptOf(x.call), now_);
}

void TakeoverObserver::On(const TransactionCommitted& x) {
  const auto sent = sent_.find(AttemptOf(x.call));
  committed_sent_ = sent == sent_.end() ? now_ : sent->second;
}

// Forgets the transaction's attempts, because their names may be reused.
void TakeoverObserver::On(const TransactionFinished& x) {
  const auto of_request = [&](uint16_t attempt) {
    return Attempt(x.process, x.lock, x.request, attempt);
  };
  sent_.erase(sent_.lower_bound(of_request(0)), sent_.upper_bound(of_request(UINT16_MAX)));
}

void TakeoverObserver::On(const RowCommitted& x) {
  const Row& row = x.after ? *x.after : *x.before;
  if (row[rules_.key_column] != key_ || x.writer == ProcessId{}) return;
  if (TakesTheLock(rules_, x, owner_)) {
    if (x.writer != owner_) owner_believes_ = false;
    owner_ = x.writer;
    if (open_ && !open_->granted && x.writer != open_->old) open_->granted = now_;
  }
  const bool renews = x.after && !rules_.is_released(*x.after);
  // While a takeover is open, only the old leader's renewals count.
  const ProcessId leader = open_ ? open_->old : owner_;
  if (renews && x.writer == leader && !(open_ && open_->granted)) renewed_ = committed_sent_;
}

void TakeoverObserver::On(const BeliefChanged& x) {
  if (x.process == owner_) owner_believes_ = x.believes;
  if (!open_ || x.process != open_->old) return;
  open_->lapsed = x.believes ? std::nullopt : std::optional(now_);
}

void TakeoverObserver::On(const WriteArrived& x) {
  if (!open_ || x.fenced || x.process == open_->old || !open_->granted) return;
  Takeover takeover{.first_write = now_ - open_->since,
                    .grant = *open_->granted - open_->since,
                    .least = Least(),
                    .since_lapse = {}};
  if (open_->lapsed) takeover.since_lapse = now_ - *open_->lapsed;
  run_.takeovers.push_back(takeover);
  open_.reset();
}

Duration TakeoverObserver::Least() const {
  const Duration lease_left = renewed_ + lease_ - open_->since;
  const Duration grant = times_.commit + times_.resource;
  switch (fault_) {
    case TakeoverFault::kCrash:
    case TakeoverFault::kPause:
    case TakeoverFault::kCutOff:
      return std::max(lease_left, Duration{}) + grant;
    case TakeoverFault::kStop:
    case TakeoverFault::kAnnouncedStop:
    case TakeoverFault::kDeployment:
      return times_.commit + grant;
    case TakeoverFault::kSpannerUnavailable:
      return std::max(lease_left, open_->outage) + grant;
    case TakeoverFault::kLostHeartbeat:
    case TakeoverFault::kShortPause:
      break;
  }
  return {};
}

}  // namespace whorl::sim
