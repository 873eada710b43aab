#include "real_client/bounded_client.h"

#include <algorithm>
#include <utility>

#include "real_client/os.h"

namespace whorl::real_client {

BoundedClient::BoundedClient(std::unique_ptr<TransactionClient> client, int32_t limit)
    : free_(limit), client_(std::move(client)) {}

BoundedClient::~BoundedClient() {
  Shutdown([] {});
  // Its callbacks use the rest.
  client_.reset();
}

void BoundedClient::Refuse(const Waiting& waiting, Status status) {
  waiting.done({.outcome = Outcome::kAborted, .status = std::move(status)});
}

TransactionClient::RunId BoundedClient::Run(Transaction transaction, Done done) {
  Waiting waiting = {.run = 0, .transaction = std::move(transaction), .done = std::move(done)};
  std::unique_lock lock(mutex_);
  const RunId run = waiting.run = ++last_run_;
  if (closed_) {
    lock.unlock();
    Refuse(waiting, Error(Code::kCancelled, "the client was shut down"));
  } else if (free_ > 0) {
    --free_;
    Send(std::move(waiting));
  } else {
    waiting_.push_back(std::move(waiting));
  }
  return run;
}

// The client never answers within Run(), so the lock may be held.
void BoundedClient::Send(Waiting waiting) {
  under_way_[waiting.run] = client_->Run(
      std::move(waiting.transaction),
      [this, run = waiting.run, done = std::move(waiting.done)](TransactionResult result) {
        OnEnded(run);
        done(std::move(result));
      });
}

void BoundedClient::OnEnded(RunId run) {
  std::deque<Waiting> late;
  {
    const std::lock_guard lock(mutex_);
    under_way_.erase(run);
    const Duration now = MonotonicNow();
    while (!waiting_.empty() &&
           waiting_.front().transaction.give_up_at.value_or(now + Seconds(1)) <= now) {
      late.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    if (waiting_.empty()) {
      ++free_;
    } else {
      Waiting next = std::move(waiting_.front());
      waiting_.pop_front();
      Send(std::move(next));
    }
  }
  for (const Waiting& waiting : late) {
    Refuse(waiting,
           Error(Code::kDeadlineExceeded, "too many transactions of this process were under way"));
  }
}

void BoundedClient::Cancel(RunId run) {
  std::optional<Waiting> cancelled;
  {
    const std::lock_guard lock(mutex_);
    const auto sent = under_way_.find(run);
    if (sent != under_way_.end()) return client_->Cancel(sent->second);
    const auto found = std::ranges::find(waiting_, run, &Waiting::run);
    if (found == waiting_.end()) return;
    cancelled = std::move(*found);
    waiting_.erase(found);
  }
  Refuse(*cancelled, Error(Code::kCancelled, "the caller gave up"));
}

void BoundedClient::Shutdown(std::function<void()> done) {
  std::deque<Waiting> refused;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    refused = std::exchange(waiting_, {});
  }
  for (const Waiting& waiting : refused) {
    Refuse(waiting, Error(Code::kCancelled, "the client was shut down"));
  }
  client_->Shutdown(std::move(done));
}

}  // namespace whorl::real_client
