// Reads the clock of a server, and sleeps until a time by it.
//
// Invariant: Now() never goes back.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "base/time.h"

namespace whorl::server {

// Thread-safe. One clock serves one server, and only that server's timer thread sleeps.
class ServerClock {
 public:
  virtual ~ServerClock() = default;
  virtual Timestamp Now() const = 0;
  // Returns when Now() >= `when`, or when Interrupt was called since the last return. Without a
  // value, only Interrupt ends it.
  virtual void SleepUntil(std::optional<Timestamp> when) = 0;
  virtual void Interrupt() = 0;
};

// Starts at the system's time and then follows the steady clock, which is never set back.
class RealClock final : public ServerClock {
 public:
  RealClock();
  Timestamp Now() const override;
  void SleepUntil(std::optional<Timestamp> when) override;
  void Interrupt() override;

 private:
  const Timestamp start_;
  const std::chrono::steady_clock::time_point steady_start_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool interrupted_ = false;
};

// Stands still until a test moves it. The server's own thread then does what has become due, in the
// order of the due times, soon after Advance has returned.
class VirtualClock final : public ServerClock {
 public:
  // What is due within `own_steps` does not wait for Advance: the clock moves on to it. With some
  // more than the commit wait, commits are answered while the clock stands still otherwise.
  explicit VirtualClock(Timestamp start, Duration own_steps = {})
      : own_steps_(own_steps), now_(start) {}
  Timestamp Now() const override;
  void SleepUntil(std::optional<Timestamp> when) override;
  void Interrupt() override;
  // REQUIRES: duration >= 0.
  void Advance(Duration duration);

 private:
  const Duration own_steps_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Timestamp now_;
  bool interrupted_ = false;
};

}  // namespace whorl::server
