// Words the progress line of `whorl explore`, and estimates the time left.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "sim/explore/engine/result.h"

namespace whorl::cli {

// Estimates how long a search will still take. There is an answer only once the search has no fault left to
// add and its queue of states shrinks: then it is the time in which the queue empties at that rate. Before that
// nothing tells how many states there are.
class TimeLeft {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `faults_max`: how many faults a run may have at most.
  explicit TimeLeft(int faults_max) : faults_max_(faults_max) {}

  // The progress at this time; times do not fall.
  void Add(Time at, const explore::Progress& progress);
  std::optional<std::chrono::seconds> Left() const;

 private:
  struct Sample {
    Time at;
    uint64_t frontier = 0;
  };

  int faults_max_;
  std::deque<Sample> samples_;  // of the last seconds, one of each second
};

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
