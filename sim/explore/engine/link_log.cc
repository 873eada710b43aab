#include "sim/explore/engine/link_log.h"

namespace whorl::explore {
namespace {

// Small numbers of either sign become small numbers: 0, -1, 1, -2, ...
uint64_t ZigZag(int64_t number) {
  return (static_cast<uint64_t>(number) << 1) ^ static_cast<uint64_t>(number >> 63);
}
int64_t UnZigZag(uint64_t number) {
  return static_cast<int64_t>(number >> 1) ^ -static_cast<int64_t>(number & 1);
}

}  // namespace

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
  const Block& block = blocks_[index / kBlock];
  uint64_t place = block.start;
  int64_t parent = static_cast<int64_t>(block.previous_parent);
  uint64_t choice = 0;
  for (uint64_t i = 0; i <= index % kBlock; ++i) {
    parent += UnZigZag(ReadNumber(place));
    choice = ReadNumber(place);
  }
  return {static_cast<uint64_t>(parent), choice};
}

// Seven bits in each byte, the lowest first; the eighth says that more follow.
void LinkLog::AppendNumber(uint64_t number) {
  for (; number >= 128; number >>= 7) bytes_.push_back(static_cast<uint8_t>(number | 128));
  bytes_.push_back(static_cast<uint8_t>(number));
}

uint64_t LinkLog::ReadNumber(uint64_t& place) const {
  uint64_t number = 0;
  for (int shift = 0;; shift += 7) {
    const uint64_t byte = bytes_[place++];
    number |= (byte & 127) << shift;
    if (byte < 128) return number;
  }
}

}  // namespace whorl::explore
