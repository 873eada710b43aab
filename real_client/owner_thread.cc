#include "real_client/owner_thread.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "real_client/os.h"

namespace whorl::real_client {
namespace {

std::atomic<int> forks = 0;  // of this process and its ancestors, counted in the child

}  // namespace

bool OwnerThread::Take(LocalInstant until, std::stop_token stop) {
  const std::thread::id me = std::this_thread::get_id();
  const auto is_free = [&] { return owner_ == std::thread::id() || owner_ == me; };
  std::unique_lock lock(mutex_);
  if (until == LocalInstant::Max()) {
    if (!changed_.wait(lock, std::move(stop), is_free)) return false;
  } else {
    const Duration left = std::max(until - MonotonicNow(), Duration());
    if (!changed_.wait_for(lock, std::move(stop), std::chrono::nanoseconds(left.ns), is_free)) {
      return false;
    }
  }
  owner_ = me;
  return true;
}

void OwnerThread::GiveBack() {
  const std::lock_guard lock(mutex_);
  owner_ = {};
  changed_.notify_one();
}

ForkMark::ForkMark() : forks_(forks) {
  static const int kRegistered = pthread_atfork(nullptr, nullptr, [] { ++forks; });
  static_cast<void>(kRegistered);
}

bool ForkMark::IsInChild() const { return forks != forks_; }

}  // namespace whorl::real_client
