#include "real_client/lock.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <utility>

#include "real_client/lock_host.h"
#include "real_client/lock_table.h"
#include "real_client/os.h"
#include "real_client/owner_thread.h"

namespace whorl::real_client {
namespace {

constexpr Duration kLeaderTimeout = Seconds(30);

// A function that waits for the loop's thread would never return on that thread.
void RefuseOnLoop(LockHost& host, const char* function) {
  if (!host.loop().IsThisThread()) return;
  std::fprintf(stderr, "DistributedLock::%s waits, and was called in a callback\n", function);
  std::abort();
}

// Runs `begin` on the loop with a callback for the answer.
template <typename T, typename Begin>
std::future<T> Ask(LockHost& host, Begin begin) {
  auto promise = std::make_shared<std::promise<T>>();
  std::future<T> answer = promise->get_future();
  host.loop().Post([promise, begin = std::move(begin)] {
    begin([promise](T value) { promise->set_value(std::move(value)); });
  });
  return answer;
}

template <typename T, typename Begin>
T WaitFor(LockHost& host, const char* function, Begin begin) {
  RefuseOnLoop(host, function);
  return Ask<T>(host, std::move(begin)).get();
}

Status InChild() {
  return Error(Code::kFailedPrecondition,
               "this process was forked from the one that takes part in the lock");
}

// Of Lock(), which waits for a lock that is held.
LockResult ResultOf(Status status) {
  return status.ok() ? LockResult::Leads() : LockResult::Failed(std::move(status));
}

}  // namespace

std::string FormatResult(const LockResult& result) {
  switch (result.outcome) {
    case LockOutcome::kLeads:
      return "OK";
    case LockOutcome::kHeld:
      return result.holder.empty() ? "held by another thread of this process"
                                   : "held by another process";
    case LockOutcome::kFailed:
      break;
  }
  return FormatStatus(result.error);
}

DistributedLock::DistributedLock(std::shared_ptr<LockHost> host)
    : host_(std::move(host)), owner_(std::make_shared<OwnerThread>()) {}

DistributedLock::~DistributedLock() {
  Unlock();
  // In a child the mutexes of the loop may be locked for ever, so the host is not destroyed.
  if (host_->IsInChild()) new std::shared_ptr<LockHost>(std::move(host_));
}

void DistributedLock::Start() {
  if (host_->IsInChild()) return;
  host_->loop().Post([host = host_] { host->Start(); });
}

// `begin` is called on the loop.
template <typename Begin>
LockResult DistributedLock::Take(const char* function, LocalInstant until,
                                 const std::stop_token& stop, Begin begin) {
  if (host_->IsInChild()) return LockResult::Failed(InChild());
  RefuseOnLoop(*host_, function);
  if (!owner_->Take(until, stop)) {
    if (stop.stop_requested()) {
      return LockResult::Failed(Error(Code::kCancelled, "a stop was requested"));
    }
    // That thread leads, or competes like this one, and Spanner may refuse both.
    if (Now().leads) return LockResult::HeldBy({});
    return WaitFor<LockResult>(*host_, function,
                               [host = host_](auto done) { host->Sight(std::move(done)); });
  }
  std::future<LockResult> answer = Ask<LockResult>(*host_, std::move(begin));
  LockResult result;
  std::atomic<bool> gave_up = false;
  {
    // After the question is on its way, since what is not under way cannot be given up.
    const std::stop_callback give_up(stop, [this, &gave_up] {
      gave_up = true;
      host_->loop().Post([host = host_] { host->Stop([] {}); });
    });
    result = answer.get();
  }
  if (gave_up && result.ok()) {
    Unlock();
    return LockResult::Failed(Error(Code::kCancelled, "a stop was requested"));
  }
  if (!result.ok()) owner_->GiveBack();
  return result;
}

Status DistributedLock::Lock(std::stop_token stop) {
  return Take("Lock()", LocalInstant::Max(), stop,
              [host = host_](auto done) {
                host->Lead(LockHost::Patience::kForever, {}, std::move(done));
              })
      .error;
}

LockResult DistributedLock::LockFor(Duration timeout) {
  const LocalInstant until = MonotonicNow() + timeout;
  return Take("LockFor()", until, {}, [host = host_, until](auto done) {
    host->Lead(LockHost::Patience::kUntil, until, std::move(done));
  });
}

LockResult DistributedLock::TryLock() {
  return Take("TryLock()", MonotonicNow(), {}, [host = host_](auto done) {
    host->Lead(LockHost::Patience::kTryOnce, {}, std::move(done));
  });
}

void DistributedLock::LockThen(std::function<void(Status)> done) {
  if (host_->IsInChild()) return done(InChild());
  host_->loop().Post([host = host_, done = std::move(done)]() mutable {
    host->Lead(LockHost::Patience::kForever, {},
               [done = std::move(done)](const LockResult& result) { done(result.error); });
  });
}

void DistributedLock::Unlock() {
  if (host_->IsInChild()) return;
  if (host_->IsWorkThread()) {
    std::fputs("DistributedLock::Unlock() waits for `lead` to return, and was called in it\n",
               stderr);
    std::abort();
  }
  WaitFor<bool>(*host_, "Unlock()", [host = host_](auto done) {
    host->Stop([done = std::move(done)] { done(true); });
  });
  owner_->GiveBack();
}

void DistributedLock::UnlockThen(std::function<void()> done) {
  if (host_->IsInChild()) return done();
  host_->loop().Post([host = host_, owner = owner_, done = std::move(done)]() mutable {
    host->Stop([owner = std::move(owner), done = std::move(done)] {
      owner->GiveBack();
      done();
    });
  });
}

bool DistributedLock::HasLock() {
  if (host_->info().answers_locally || host_->IsInChild()) return Now().leads;
  return WaitFor<bool>(*host_, "HasLock()", [host = host_](auto done) {
    host->Ask(Question::kHasLock,
              [done = std::move(done)](const Answer& answer) { done(answer.yes); });
  });
}

std::optional<uint64_t> DistributedLock::Token() const { return Now().token; }

Leadership DistributedLock::Now() const { return host_->Now(); }

std::stop_token DistributedLock::Term() const { return host_->Term(); }

Status DistributedLock::Leader(Holding& out) {
  if (host_->IsInChild()) return InChild();
  const ProtocolInfo& info = host_->info();
  const LockOptions& options = host_->options();
  const auto result = WaitFor<TransactionResult>(*host_, "Leader()", [&, host = host_](auto done) {
    Transaction read = ReadHoldings(info, options.table, options.name);
    read.give_up_at = MonotonicNow() + kLeaderTimeout;
    host->RunSeparately(std::move(read), std::move(done));
  });
  if (!result.status.ok()) return result.status;
  const Duration lease = options.lease.value_or(info.lease_default);
  out = CurrentHolding(HoldingsIn(info, result.results.at(0).rows, lease), options.name);
  return {};
}

const std::string& DistributedLock::name() const { return host_->options().name; }

const std::string& DistributedLock::id() const { return host_->options().id; }

LockGuard::LockGuard(DistributedLock& lock) : lock_(lock), result_(ResultOf(lock.Lock())) {
  Remember();
}

LockGuard::LockGuard(DistributedLock& lock, Duration timeout)
    : lock_(lock), result_(lock.LockFor(timeout)) {
  Remember();
}

void LockGuard::Remember() {
  stop_ = lock_.Term();
  token_ = lock_.Token();
}

}  // namespace whorl::real_client
