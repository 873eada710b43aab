// Tells whether a lease is too short for the time that Spanner's answers take.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "real_client/lock.h"

namespace whorl::cli {

// All functions may be called from any thread.
class LatencyHint {
 public:
  // A transaction of that step was answered. Of each step the quickest counts: a slow one may have waited
  // for anything.
  void Heard(std::string_view step, Duration took);
  // So was the read before the lock is taken, which makes connections first: it counts if nothing else
  // was heard.
  void HeardFirst(Duration took);
  // "; the lease of 1s is too short for this latency: take took 1.203 s"; empty if it is long enough.
  // A renewal is due when two fifths of a lease are left, and exec begins to end its command when three
  // twentieths are: a renewal that takes a quarter of the lease comes too late.
  std::string OfLease(Duration lease) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Duration, std::less<>> quickest_;  // by step; guarded by mutex_
  Duration first_;                                         // guarded by mutex_
};

}  // namespace whorl::cli
