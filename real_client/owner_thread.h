// Keeps which thread of this process has a lock: a lock on Spanner excludes processes, and this one
// threads.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "base/time.h"

namespace whorl::real_client {

// Thread-safe.
class OwnerThread {
 public:
  // Waits until no other thread has it, and takes it; a thread that has it takes it again at once.
  // False if that was not so by `until` (of MonotonicNow(); Max: no end), or `stop` was requested.
  bool Take(LocalInstant until, std::stop_token stop);
  // Gives it back, whichever thread has it.
  void GiveBack();

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::thread::id owner_;  // guarded by mutex_; none: nobody has it
};

// Whether this process is a child, by fork(), of the one that made what remembers `forks`: threads are
// not inherited, so nothing would answer here.
class ForkMark {
 public:
  ForkMark();
  bool IsInChild() const;

 private:
  const int forks_;
};

}  // namespace whorl::real_client
