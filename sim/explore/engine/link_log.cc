#include "sim/explore/engine/link_log.h"

namespace whorl::explore {

void LinkLog::Append(Link link) {
  if (size_ % kBlock == 0) {
    blocks_.push_back({.start = bytes_.size(), .previous_parent = last_parent_});
  }
  AppendNumber(ZigZag(static_cast<int64_t>(link.parent()) - static_cast<int64_t>(last_parent_)));
  AppendNumber(link.choice());
  last_parent_ = link.parent();
  ++size_;
}

Link LinkLog::operator[](uint64_t index) const {
  Link found;
  VisitFrom(index, [&](uint64_t, Link link) {
    found = link;
    return false;
  });
  return found;
}

uint64_t LinkLog::FirstNotLess(uint64_t parent, uint64_t begin, uint64_t end) const {
  if (begin >= end) return end;
  // The first block after `begin` whose previous link has `parent` or a greater parent.
  uint64_t low = begin / kBlock + 1;
  uint64_t high = (end - 1) / kBlock + 1;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (blocks_[middle].previous_parent < parent) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  uint64_t first = end;
  VisitFrom(std::max(begin, (low - 1) * kBlock), [&](uint64_t i, Link link) {
    if (i >= end) return false;
    if (link.parent() < parent) return true;
    first = i;
    return false;
  });
  return first;
}

void LinkLog::AppendNumber(uint64_t number) {
  PutNumber(number, [this](uint8_t byte) { bytes_.push_back(byte); });
}

}  // namespace whorl::explore
