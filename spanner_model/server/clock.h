// The time that a server goes by: its clock, and sleep until a time.
//
// Invariant: Now() never goes back.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "protocol/spanner/time.h"

namespace whorl::server {

// Functions may be called from any thread. One clock serves one server, whose timers alone sleep.
class ServerClock {
 public:
  virtual ~ServerClock() = default;
  virtual Timestamp Now() const = 0;
  // Returns when Now() >= `when`, or when Interrupt was called since the last return. Nothing: only
  // Interrupt ends it.
  virtual void SleepUntil(std::optional<Timestamp> when) = 0;
  virtual void Interrupt() = 0;
};

// The system's clock at the start, and from then on the steady one, which nobody sets back.
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

// Stands still until a test moves it. What becomes due then is done by the server's own thread, in
// the order of its times, soon after Advance has returned.
class VirtualClock final : public ServerClock {
 public:
  explicit VirtualClock(Timestamp start) : now_(start) {}
  Timestamp Now() const override;
  void SleepUntil(std::optional<Timestamp> when) override;
  void Interrupt() override;
  // REQUIRES: duration >= 0.
  void Advance(Duration duration);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Timestamp now_;
  bool interrupted_ = false;
};

}  // namespace whorl::server
