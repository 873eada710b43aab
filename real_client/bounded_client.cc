#include "real_client/bounded_client.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "protocol/protocols.h"

namespace whorl::real_client {

namespace {

// The deadline, after it was queued, by which a transaction without give_up_at is ordered.
constexpr Duration kUsualPatience = Seconds(10);

bool KeepsOrGivesBack(StepName step) {
  return std::ranges::any_of(Protocols(), [step](const ProtocolInfo& info) {
    return std::ranges::find(info.urgent_steps, step) != info.urgent_steps.end();
  });
}

}  // namespace

BoundedClient::BoundedClient(std::unique_ptr<TransactionClient> client, int32_t most, Clock clock)
    : clock_(std::move(clock)),
      most_(static_cast<size_t>(most)),
      lanes_{Lane(most), Lane(most)},
      client_(std::move(client)) {}

BoundedClient::~BoundedClient() {
  Shutdown([] {});
  // First, since its callbacks use the other members.
  client_.reset();
}

void BoundedClient::Answer(std::vector<Refused> refused) {
  for (Refused& one : refused) {
    one.done({.outcome = Outcome::kAborted, .status = std::move(one.status)});
  }
}

TransactionClient::RunId BoundedClient::Run(Transaction transaction, Done done) {
  Waiting waiting = {.transaction = std::move(transaction), .done = std::move(done)};
  std::vector<Refused> refused;
  std::unique_lock lock(mutex_);
  const RunId run = ++last_run_;
  Lane& lane = LaneOf(waiting.transaction);
  if (closed_) {
    refused.push_back(
        {std::move(waiting.done), Error(Code::kCancelled, "the client was shut down")});
  } else if (HasRoom(lane) && !lane.has_waiting()) {
    Send(run, lane, std::move(waiting));
  } else {
    Wait(run, lane, std::move(waiting), refused);
  }
  lock.unlock();
  Answer(std::move(refused));
  return run;
}

BoundedClient::Lane& BoundedClient::LaneOf(const Transaction& transaction) {
  return transaction.mode == Mode::kReadWrite ? lanes_[0] : lanes_[1];
}

bool BoundedClient::HasRoom(const Lane& lane) const {
  return lane.has_room() && under_way_.size() < most_;
}

void BoundedClient::Wait(RunId run, Lane& lane, Waiting waiting, std::vector<Refused>& refused) {
  const Transaction& transaction = waiting.transaction;
  Queue& queue = KeepsOrGivesBack(transaction.step) ? lane.keeping : lane.looking;
  const LocalInstant by = transaction.give_up_at.value_or(clock_() + kUsualPatience);
  const auto end = queue.lower_bound({by, run});
  const auto equal = std::find_if(queue.lower_bound({by, 0}), end, [&](const auto& other) {
    return other.second.transaction == transaction;
  });
  if (equal != end) {
    refused.push_back({std::move(equal->second.done),
                       Error(Code::kCancelled, "an equal one took its place before it was sent")});
    queue.erase(equal);
  }
  queue.emplace(std::pair(by, run), std::move(waiting));
}

// The client never answers within Run(), so the lock may be held.
void BoundedClient::Send(RunId run, Lane& lane, Waiting waiting) {
  ++lane.under_way;
  under_way_[run] = {
      .run = client_->Run(
          std::move(waiting.transaction),
          [this, run, sent = clock_(), done = std::move(waiting.done)](TransactionResult result) {
            OnEnded(run, sent, result);
            done(std::move(result));
          }),
      .lane = &lane};
}

void BoundedClient::RefuseLate(LocalInstant now, std::vector<Refused>& refused) {
  for (Lane& lane : lanes_) {
    for (Queue* queue : {&lane.keeping, &lane.looking}) {
      while (!queue->empty()) {
        const auto first = queue->begin();
        if (first->second.transaction.give_up_at.value_or(LocalInstant::Max()) > now) break;
        refused.push_back({std::move(first->second.done),
                           Error(Code::kDeadlineExceeded,
                                 "too many transactions of this process were under way")});
        queue->erase(first);
      }
    }
  }
}

bool BoundedClient::SendFrom(Lane& lane, Queue& queue, LocalInstant from) {
  if (!HasRoom(lane)) return false;
  const auto next = queue.lower_bound({from, 0});
  if (next == queue.end()) return false;
  auto node = queue.extract(next);
  Send(node.key().second, lane, std::move(node.mapped()));
  return true;
}

void BoundedClient::SendNext(LocalInstant now) {
  const auto send_one = [this, now] {
    for (const bool in_time : {true, false}) {
      for (const auto queue : {&Lane::keeping, &Lane::looking}) {
        for (Lane& lane : lanes_) {
          const LocalInstant from = in_time ? now + lane.took * 2 : LocalInstant();
          if (SendFrom(lane, lane.*queue, from)) return true;
        }
      }
    }
    return false;
  };
  while (send_one()) {
  }
}

void BoundedClient::OnEnded(RunId run, LocalInstant sent, const TransactionResult& result) {
  std::vector<Refused> refused;
  {
    const std::lock_guard lock(mutex_);
    Lane& lane = *under_way_.extract(run).mapped().lane;
    const LocalInstant now = clock_();
    --lane.under_way;
    lane.took = (lane.took * 3 + (now - sent)) / 4;
    lane.level.OnEnded(now, now - sent, result, lane.has_waiting());
    RefuseLate(now, refused);
    SendNext(now);
  }
  Answer(std::move(refused));
}

void BoundedClient::Cancel(RunId run) {
  std::vector<Refused> cancelled;
  std::optional<RunId> sent;
  {
    const std::lock_guard lock(mutex_);
    const auto found = under_way_.find(run);
    if (found != under_way_.end()) sent = found->second.run;
    for (Lane& lane : lanes_) {
      for (Queue* queue : {&lane.keeping, &lane.looking}) {
        const auto waiting = std::ranges::find_if(
            *queue, [run](const auto& one) { return one.first.second == run; });
        if (waiting == queue->end()) continue;
        cancelled.push_back(
            {std::move(waiting->second.done), Error(Code::kCancelled, "the caller gave up")});
        queue->erase(waiting);
      }
    }
  }
  if (sent) client_->Cancel(*sent);
  Answer(std::move(cancelled));
}

void BoundedClient::Shutdown(std::function<void()> done) {
  std::vector<Refused> refused;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (Lane& lane : lanes_) {
      for (Queue* queue : {&lane.keeping, &lane.looking}) {
        for (auto& [when, waiting] : std::exchange(*queue, {})) {
          refused.push_back(
              {std::move(waiting.done), Error(Code::kCancelled, "the client was shut down")});
        }
      }
    }
  }
  Answer(std::move(refused));
  client_->Shutdown(std::move(done));
}

namespace {

constexpr double kAtFirst = 4;
constexpr double kRisePerRound = 0.1;
constexpr double kRiseNearFall = 0.01;
constexpr double kAfterRefusal = 0.5;
constexpr double kAfterSlowness = 0.9;
// Answers are slow if they take this many times as long as the fastest. Spanner's own spread, between
// reads at a near replica and commits of several splits, is smaller.
constexpr int64_t kSlow = 5;
// The fastest answer is that of this period and the one before, so that a Spanner that has become
// slower for good is not taken for an overloaded one for ever.
constexpr Duration kPeriod = Seconds(30);

bool IsRefusal(const TransactionResult& result) {
  switch (result.status.code) {
    case Code::kAborted:
    case Code::kResourceExhausted:
    case Code::kUnavailable:
    case Code::kDeadlineExceeded:
      return true;
    case Code::kOk:
    case Code::kCancelled:
    case Code::kUnknown:
    case Code::kInvalidArgument:
    case Code::kNotFound:
    case Code::kAlreadyExists:
    case Code::kPermissionDenied:
    case Code::kFailedPrecondition:
    case Code::kOutOfRange:
    case Code::kUnimplemented:
    case Code::kInternal:
    case Code::kDataLoss:
    case Code::kUnauthenticated:
      break;
  }
  return result.attempts > 1;
}

}  // namespace

ConcurrencyLevel::ConcurrencyLevel(int32_t most)
    : most_(most), level_(std::min(kAtFirst, most_)), fell_at_(most_ * 2) {}

void ConcurrencyLevel::OnEnded(LocalInstant now, Duration took, const TransactionResult& result,
                               bool others_wait) {
  if (result.status.code == Code::kCancelled) return;  // says nothing of Spanner
  if (IsRefusal(result)) return Fall(now, now - took, level_ * kAfterRefusal);
  Measure(now, took);
  if (took_ > std::min(fastest_now_, fastest_before_) * kSlow)
    return Fall(now, now - took, level_ * kAfterSlowness);
  if (!others_wait) return;
  const bool is_near = std::floor(level_) + 1 == std::floor(fell_at_);
  level_ = std::min(most_, level_ + (is_near ? kRiseNearFall : kRisePerRound) / level_);
}

void ConcurrencyLevel::Fall(LocalInstant now, LocalInstant sent, double to) {
  if (has_fallen_ && sent < fell_) return;
  has_fallen_ = true;
  fell_ = now;
  fell_at_ = std::max(2.0, level_);
  level_ = std::max(1.0, to);
}

void ConcurrencyLevel::Measure(LocalInstant now, Duration took) {
  if (!has_measured_) {
    has_measured_ = true;
    period_began_ = now;
    took_ = fastest_now_ = fastest_before_ = took;
  }
  if (now - period_began_ >= kPeriod) {
    period_began_ = now;
    fastest_before_ = std::exchange(fastest_now_, took);
  }
  took_ = (took_ * 7 + took) / 8;
  fastest_now_ = std::min(fastest_now_, took);
}

}  // namespace whorl::real_client
