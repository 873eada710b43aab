// The progress line of `whorl explore`.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/explore/time_left.h"
#include "sim/explore/engine/result.h"

namespace whorl::cli {

class ExploreProgress {
 public:
  explicit ExploreProgress(int faults_max) : time_left_(faults_max) {}

  // Called after each round.
  void Add(const explore::Progress& now);
  // "12,345 states, 34,567 transitions, ...", of what was added last.
  std::string Text() const;

 private:
  using Clock = std::chrono::steady_clock;

  explore::Progress now_;
  bool has_begun_ = false;  // to visit states, rather than to make again those of a checkpoint
  Clock::time_point begun_;
  uint64_t states_before_ = 0;
  TimeLeft time_left_;
};

}  // namespace whorl::cli
