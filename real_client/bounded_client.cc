#include "real_client/bounded_client.h"

#include <algorithm>
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

BoundedClient::BoundedClient(std::unique_ptr<TransactionClient> client, int32_t limit, Clock clock)
    : clock_(std::move(clock)), free_(limit), client_(std::move(client)) {}

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
  if (closed_) {
    refused.push_back(
        {std::move(waiting.done), Error(Code::kCancelled, "the client was shut down")});
  } else if (free_ > 0) {
    --free_;
    Send(run, std::move(waiting));
  } else {
    Wait(run, std::move(waiting), refused);
  }
  lock.unlock();
  Answer(std::move(refused));
  return run;
}

void BoundedClient::Wait(RunId run, Waiting waiting, std::vector<Refused>& refused) {
  const Transaction& transaction = waiting.transaction;
  Queue& queue = KeepsOrGivesBack(transaction.step) ? keeping_ : looking_;
  const Duration by = transaction.give_up_at.value_or(clock_() + kUsualPatience);
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
void BoundedClient::Send(RunId run, Waiting waiting) {
  under_way_[run] = client_->Run(
      std::move(waiting.transaction),
      [this, run, sent = clock_(), done = std::move(waiting.done)](TransactionResult result) {
        OnEnded(run, sent);
        done(std::move(result));
      });
}

void BoundedClient::RefuseLate(Duration now, std::vector<Refused>& refused) {
  for (Queue* queue : {&keeping_, &looking_}) {
    while (!queue->empty()) {
      const auto first = queue->begin();
      if (first->second.transaction.give_up_at.value_or(Duration::Max()) > now) break;
      refused.push_back(
          {std::move(first->second.done),
           Error(Code::kDeadlineExceeded, "too many transactions of this process were under way")});
      queue->erase(first);
    }
  }
}

std::optional<BoundedClient::Queue::node_type> BoundedClient::Next(Duration now) {
  for (Queue* queue : {&keeping_, &looking_}) {
    const auto in_time = queue->lower_bound({now + took_ * 2, 0});
    if (in_time != queue->end()) return queue->extract(in_time);
  }
  for (Queue* queue : {&keeping_, &looking_}) {
    if (!queue->empty()) return queue->extract(queue->begin());
  }
  return std::nullopt;
}

void BoundedClient::OnEnded(RunId run, Duration sent) {
  std::vector<Refused> refused;
  {
    const std::lock_guard lock(mutex_);
    under_way_.erase(run);
    const Duration now = clock_();
    took_ = (took_ * 3 + (now - sent)) / 4;
    RefuseLate(now, refused);
    if (auto next = Next(now)) {
      Send(next->key().second, std::move(next->mapped()));
    } else {
      ++free_;
    }
  }
  Answer(std::move(refused));
}

void BoundedClient::Cancel(RunId run) {
  std::vector<Refused> cancelled;
  std::optional<RunId> sent;
  {
    const std::lock_guard lock(mutex_);
    const auto found = under_way_.find(run);
    if (found != under_way_.end()) sent = found->second;
    for (Queue* queue : {&keeping_, &looking_}) {
      const auto waiting =
          std::ranges::find_if(*queue, [run](const auto& one) { return one.first.second == run; });
      if (waiting == queue->end()) continue;
      cancelled.push_back(
          {std::move(waiting->second.done), Error(Code::kCancelled, "the caller gave up")});
      queue->erase(waiting);
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
    for (Queue* queue : {&keeping_, &looking_}) {
      for (auto& [when, waiting] : std::exchange(*queue, {})) {
        refused.push_back(
            {std::move(waiting.done), Error(Code::kCancelled, "the client was shut down")});
      }
    }
  }
  Answer(std::move(refused));
  client_->Shutdown(std::move(done));
}

}  // namespace whorl::real_client
