// Tells a person at the keyboard what a command waits for.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "cli/lock/options.h"

namespace whorl::cli {

// Prints one line on standard error if it still exists after two seconds.
class WaitNotice {
 public:
  // "waiting for Spanner at HOST:PORT", if `waits` still says so then (it is called on a thread of
  // this object; empty: always).
  explicit WaitNotice(const LockRequest& request, std::function<bool()> waits = {});
  WaitNotice(const WaitNotice&) = delete;
  WaitNotice& operator=(const WaitNotice&) = delete;
  ~WaitNotice() = default;  // the thread is stopped and joined

 private:
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  // last, since it uses the other members
};

}  // namespace whorl::cli
