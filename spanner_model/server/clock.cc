#include "spanner_model/server/clock.h"

#include <cstdint>

namespace whorl::server {
namespace {

Timestamp SystemTime() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return Timestamp::FromUnixNanos(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace

RealClock::RealClock() : start_(SystemTime()), steady_start_(std::chrono::steady_clock::now()) {}

Timestamp RealClock::Now() const {
  const auto since = std::chrono::steady_clock::now() - steady_start_;
  return start_ + Nanoseconds(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

void RealClock::SleepUntil(std::optional<Timestamp> when) {
  std::unique_lock<std::mutex> lock(mutex_);
  // A longer wait could overflow the time point. The caller sleeps again.
  constexpr Duration kLongest = Seconds(3600);
  const Duration wait = when ? std::min(*when - Now(), kLongest) : kLongest;
  changed_.wait_for(lock, std::chrono::nanoseconds(wait.ns), [this] { return interrupted_; });
  interrupted_ = false;
}

void RealClock::Interrupt() {
  const std::lock_guard<std::mutex> lock(mutex_);
  interrupted_ = true;
  changed_.notify_all();
}

Timestamp VirtualClock::Now() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return now_;
}

void VirtualClock::SleepUntil(std::optional<Timestamp> when) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (when && *when > now_ && *when - now_ <= own_steps_) now_ = *when;
  changed_.wait(lock, [&] { return interrupted_ || (when && now_ >= *when); });
  interrupted_ = false;
}

void VirtualClock::Interrupt() {
  const std::lock_guard<std::mutex> lock(mutex_);
  interrupted_ = true;
  changed_.notify_all();
}

void VirtualClock::Advance(Duration duration) {
  const std::lock_guard<std::mutex> lock(mutex_);
  now_ = now_ + duration;
  changed_.notify_all();
}

}  // namespace whorl::server
