// How long a search will still take.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

#include "sim/explore/engine/result.h"

namespace whorl::cli {

// As far as that can be known: while it has no fault left to add, and the states that wait have become
// fewer, it is the time in which they become none if they go on to do so. Nobody knows how many states
// there are, so otherwise there is no answer.
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

}  // namespace whorl::cli
