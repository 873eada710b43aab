// Named timers of a loop: setting one again replaces it.
//
// Invariants:
//   1. Everything happens on the loop's thread.
//   2. A timer that was replaced or cancelled does not fire, even if its time has come.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "base/time.h"
#include "real_client/lock_loop.h"
#include "real_client/machine_clock.h"

namespace whorl::real_client {

template <typename Name>
class LoopTimers {
 public:
  // `loop` and `clock` outlive this.
  LoopTimers(LockLoop& loop, const MachineClock& clock, std::function<void(Name)> fire)
      : loop_(loop), clock_(clock), fire_(std::move(fire)) {}

  // `at` is a time of `clock`. `keep_alive` is held until the timer has fired or is dropped.
  void Set(Name name, LocalInstant at, std::shared_ptr<void> keep_alive = nullptr) {
    timers_.erase(name);
    Arm(name, timers_
                  .emplace(name, Timer{.timer = LoopTimer(loop_.context()),
                                       .number = 0,
                                       .at = at,
                                       .keep_alive = std::move(keep_alive)})
                  .first->second);
  }
  void Cancel(Name name) { timers_.erase(name); }
  void Clear() { timers_.clear(); }
  // Call it when the offset or rate of the clock has changed.
  void ArmAgain() {
    for (auto& [name, timer] : timers_) Arm(name, timer);
  }

 private:
  struct Timer {
    LoopTimer timer;
    uint64_t number = 0;
    LocalInstant at;
    std::shared_ptr<void> keep_alive;
  };

  void Arm(Name name, Timer& timer) {
    timer.number = ++last_number_;
    timer.timer.expires_at(BootClock::At(clock_.ToMonotonic(timer.at)));
    timer.timer.async_wait(
        [this, name, number = timer.number, keep_alive = timer.keep_alive](auto cancelled) {
          if (cancelled) return;
          const auto found = timers_.find(name);
          if (found == timers_.end() || found->second.number != number) return;
          timers_.erase(found);
          fire_(name);
        });
  }

  LockLoop& loop_;
  const MachineClock& clock_;
  const std::function<void(Name)> fire_;
  std::map<Name, Timer> timers_;
  uint64_t last_number_ = 0;
};

}  // namespace whorl::real_client
