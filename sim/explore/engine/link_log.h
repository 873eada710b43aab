// Records how each state of a search was first reached: its parent state and the number of the choice.
//
// States are numbered in the order in which they were found. A breadth-first search finds the successors of a state
// next to those of its neighbour, so that consecutive links have close parents: a link stores the difference to the
// parent of the link before, mostly in two bytes. One link in 64 is also stored in full.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "sim/explore/engine/varint.h"

namespace whorl::explore {

// The number of the parent state, and the number of the choice among those that the parent offers. An initial state
// has no parent, and its choice is its number among the initial states.
class Link {
 public:
  static constexpr uint64_t kChoices = uint64_t{1} << 20;
  static constexpr uint64_t kStates = uint64_t{1} << 44;

  constexpr Link() = default;
  // REQUIRES: parent < kStates and choice < kChoices.
  constexpr Link(uint64_t parent, uint64_t choice) : bits_(parent * kChoices + choice) {}

  constexpr uint64_t parent() const { return bits_ / kChoices; }
  constexpr uint64_t choice() const { return bits_ % kChoices; }

 private:
  uint64_t bits_ = 0;
};

class LinkLog {
 public:
  // Adds the link of the state with the number size().
  void Append(Link link);

  // REQUIRES: index < size().
  Link operator[](uint64_t index) const;

  // Calls visit(index, link) for each link from `begin` on, in order, until it returns false.
  template <typename Visit>
  void VisitFrom(uint64_t begin, Visit visit) const {
    if (begin >= size_) return;
    const Block& block = blocks_[begin / kBlock];
    uint64_t place = block.start;
    auto parent = static_cast<int64_t>(block.previous_parent);
    for (uint64_t i = begin / kBlock * kBlock; i < size_; ++i) {
      parent += UnZigZag(ReadNumber(place));
      const uint64_t choice = ReadNumber(place);
      if (i >= begin && !visit(i, Link(static_cast<uint64_t>(parent), choice))) return;
    }
  }

  // Calls visit(index, link) for each link, in reverse order.
  template <typename Visit>
  void VisitBackwards(Visit visit) const {
    std::array<Link, kBlock> links;
    for (uint64_t block = blocks_.size(); block-- > 0;) {
      const uint64_t begin = block * kBlock;
      const uint64_t end = std::min(begin + kBlock, size_);
      VisitFrom(begin, [&](uint64_t i, Link link) {
        links[i - begin] = link;
        return i + 1 < end;
      });
      for (uint64_t i = end; i-- > begin;) visit(i, links[i - begin]);
    }
  }

  // The first of the links from `begin` to `end` whose parent is `parent` or greater; `end` if there is none.
  // REQUIRES: the parents of these links never decrease.
  uint64_t FirstNotLess(uint64_t parent, uint64_t begin, uint64_t end) const;

  uint64_t size() const { return size_; }
  size_t bytes() const { return bytes_.size() + blocks_.size() * sizeof(Block); }

 private:
  static constexpr uint64_t kBlock = 64;

  struct Block {
    uint64_t start = 0;            // index of its first byte
    uint64_t previous_parent = 0;  // the parent of the link before its first link
  };

  void AppendNumber(uint64_t number);
  uint64_t ReadNumber(uint64_t& place) const {
    return GetNumber([&] { return bytes_[place++]; });
  }

  std::deque<uint8_t> bytes_;
  std::deque<Block> blocks_;
  uint64_t size_ = 0;
  uint64_t last_parent_ = 0;
};

}  // namespace whorl::explore
