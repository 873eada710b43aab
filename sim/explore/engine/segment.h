// Holds states that wait to be expanded, in pieces of a few hundred, so that expanded states are freed at once, no
// array of a whole level is ever copied, and threads can share a level.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "sim/explore/engine/link_log.h"

namespace whorl::explore {

// A violation in a state of a segment.
struct Finding {
  size_t position = 0;
  int property = 0;
  uint64_t kind = 0;
};

template <typename State>
struct Segment {
  std::vector<State> states;
  std::vector<Link> links;        // of each state, until they are in the log
  std::vector<Finding> findings;  // in the order of the states
  uint64_t first = 0;             // number of the first state, once it is in the log
  size_t held_bytes = 0;          // bytes of the states besides sizeof(State)

  size_t bytes() const {
    return states.capacity() * sizeof(State) + links.capacity() * sizeof(Link) + held_bytes;
  }
};

template <typename State>
class Segments {
 public:
  // The segment for the next state. Adds one if the last has `capacity` states.
  Segment<State>& Open(size_t capacity) {
    if (segments_.empty() || segments_.back().states.size() >= capacity) {
      segments_.emplace_back();
    }
    return segments_.back();
  }

  // Appends the segments of `other`, which is empty afterwards.
  void Append(Segments& other) {
    std::ranges::move(other.segments_, std::back_inserter(segments_));
    other.segments_.clear();
  }

  void DropEmpty() {
    std::erase_if(segments_, [](const Segment<State>& segment) { return segment.states.empty(); });
  }

  size_t count() const { return segments_.size(); }
  Segment<State>& operator[](size_t i) { return segments_[i]; }
  auto begin() { return segments_.begin(); }
  auto end() { return segments_.end(); }
  auto begin() const { return segments_.begin(); }
  auto end() const { return segments_.end(); }

  uint64_t states() const {
    uint64_t sum = 0;
    for (const Segment<State>& segment : segments_) sum += segment.states.size();
    return sum;
  }
  size_t bytes() const {
    size_t sum = 0;
    for (const Segment<State>& segment : segments_) sum += segment.bytes();
    return sum;
  }

 private:
  std::vector<Segment<State>> segments_;
};

}  // namespace whorl::explore
