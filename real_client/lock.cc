#include "real_client/lock.h"

#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <utility>

#include "real_client/lock_host.h"
#include "real_client/lock_table.h"
#include "real_client/os.h"

namespace whorl::real_client {
namespace {

constexpr Duration kLeaderTimeout = Seconds(30);

// A function that waits for the loop's thread would never return on that thread.
void RefuseOnLoop(LockHost& host, const char* function) {
  if (!host.loop().IsThisThread()) return;
  std::fprintf(stderr, "DistributedLock::%s waits, and was called in a callback\n", function);
  std::abort();
}

// Runs `begin` on the loop with a callback for the answer, and waits for the answer.
template <typename T, typename Begin>
T WaitFor(LockHost& host, const char* function, Begin begin) {
  RefuseOnLoop(host, function);
  auto promise = std::make_shared<std::promise<T>>();
  std::future<T> answer = promise->get_future();
  host.loop().Post([promise, begin = std::move(begin)] {
    begin([promise](T value) { promise->set_value(std::move(value)); });
  });
  return answer.get();
}

}  // namespace

DistributedLock::DistributedLock(std::shared_ptr<LockHost> host) : host_(std::move(host)) {}

DistributedLock::~DistributedLock() { Unlock(); }

void DistributedLock::Start() {
  host_->loop().Post([host = host_] { host->Start(); });
}

Status DistributedLock::Lock() {
  return WaitFor<Status>(*host_, "Lock()", [host = host_](auto done) {
    host->Lead(LockHost::Patience::kForever, {}, std::move(done));
  });
}

Status DistributedLock::LockFor(Duration timeout) {
  return WaitFor<Status>(*host_, "LockFor()", [host = host_, timeout](auto done) {
    host->Lead(LockHost::Patience::kUntil, MonotonicNow() + timeout, std::move(done));
  });
}

Status DistributedLock::TryLock() {
  return WaitFor<Status>(*host_, "TryLock()", [host = host_](auto done) {
    host->Lead(LockHost::Patience::kOneLook, {}, std::move(done));
  });
}

void DistributedLock::Unlock() {
  WaitFor<bool>(*host_, "Unlock()", [host = host_](auto done) {
    host->Stop([done = std::move(done)] { done(true); });
  });
}

void DistributedLock::UnlockThen(std::function<void()> done) {
  host_->loop().Post(
      [host = host_, done = std::move(done)]() mutable { host->Stop(std::move(done)); });
}

bool DistributedLock::HasLock() {
  if (host_->info().answers_locally) return Now().leads;
  return WaitFor<bool>(*host_, "HasLock()", [host = host_](auto done) {
    host->Ask(Question::kHasLock,
              [done = std::move(done)](const Answer& answer) { done(answer.yes); });
  });
}

std::optional<uint64_t> DistributedLock::Token() const { return Now().token; }

Leadership DistributedLock::Now() const { return host_->Now(); }

std::stop_token DistributedLock::Term() const { return host_->Term(); }

Status DistributedLock::Leader(std::string& holder) {
  const ProtocolInfo& info = host_->info();
  const LockOptions& options = host_->options();
  const auto result = WaitFor<TransactionResult>(*host_, "Leader()", [&, host = host_](auto done) {
    Transaction read = ReadHoldings(info, options.table, options.name);
    read.give_up_at = MonotonicNow() + kLeaderTimeout;
    host->RunBeside(std::move(read), std::move(done));
  });
  if (!result.status.ok()) return result.status;
  const Duration lease = options.lease.value_or(info.lease_default);
  const std::vector<Holding> holdings = HoldingsIn(info, result.results.at(0).rows, lease);
  holder = !holdings.empty() && holdings[0].is_held() ? holdings[0].holder : "";
  return {};
}

const std::string& DistributedLock::name() const { return host_->options().name; }

const std::string& DistributedLock::id() const { return host_->options().id; }

LockGuard::LockGuard(DistributedLock& lock) : lock_(lock), status_(lock.Lock()) { Remember(); }

LockGuard::LockGuard(DistributedLock& lock, Duration timeout)
    : lock_(lock), status_(lock.LockFor(timeout)) {
  Remember();
}

void LockGuard::Remember() {
  stop_ = lock_.Term();
  token_ = lock_.Token();
}

}  // namespace whorl::real_client
