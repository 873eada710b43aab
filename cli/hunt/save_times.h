// When long work saves what it has: at once, then at intervals that double up to ten seconds; less often
// where saving takes long.
#pragma once

#include <algorithm>
#include <chrono>

namespace whorl::cli {

class SaveTimes {
 public:
  using Clock = std::chrono::steady_clock;

  bool IsDue() const { return Clock::now() >= due_; }
  // It was saved, which had begun at `started`.
  void Saved(Clock::time_point started) {
    const Clock::time_point ended = Clock::now();
    due_ = ended + std::max<Clock::duration>(interval_, kShareOfTime * (ended - started));
    interval_ = std::min<Clock::duration>(2 * interval_, kLongestInterval);
  }

 private:
  static constexpr std::chrono::seconds kLongestInterval{10};
  static constexpr int kShareOfTime = 50;  // saving takes at most two per cent of the time

  Clock::time_point due_;
  Clock::duration interval_ = std::chrono::milliseconds(100);
};

}  // namespace whorl::cli
