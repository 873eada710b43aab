// Maps keys to values. Values are never removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sim/explore/engine/key.h"

namespace whorl::explore {

// References to values stay valid. It offers no iteration, so the order of its table cannot matter.
template <typename Value>
class KeyMap {
 public:
  // Finds the key's value; null if there is none.
  const Value* Find(const Key128& key) const {
    if (places_.empty()) return nullptr;
    const uint32_t place = places_[PlaceOf(key)];
    return place == kFree ? nullptr : &At(place).value;
  }
  // Adds the key with its value. REQUIRES: the key is not there.
  const Value& Insert(const Key128& key, Value value) {
    if (2 * (size_ + 1) > places_.size()) Grow();
    places_[PlaceOf(key)] = static_cast<uint32_t>(size_);
    if (size_ % kBlock == 0) blocks_.emplace_back().reserve(kBlock);
    ++size_;
    return blocks_.back().emplace_back(key, std::move(value)).value;
  }
  size_t size() const { return size_; }

 private:
  static constexpr uint32_t kFree = std::numeric_limits<uint32_t>::max();
  static constexpr size_t kBlock = 256;
  struct Entry {
    Entry(const Key128& its_key, Value its_value) : key(its_key), value(std::move(its_value)) {}
    Key128 key;
    Value value;
  };

  const Entry& At(size_t i) const { return blocks_[i / kBlock][i % kBlock]; }

  // The index in places_ at which the key is, or would be.
  size_t PlaceOf(const Key128& key) const {
    const size_t mask = places_.size() - 1;
    size_t place = key.low & mask;
    while (places_[place] != kFree && !(At(places_[place]).key == key)) {
      place = (place + 1) & mask;
    }
    return place;
  }
  void Grow() {
    constexpr size_t kFirst = 1'024;
    places_.assign(places_.empty() ? kFirst : 2 * places_.size(), kFree);
    for (size_t i = 0; i < size_; ++i) {
      places_[PlaceOf(At(i).key)] = static_cast<uint32_t>(i);
    }
  }

  std::vector<std::vector<Entry>> blocks_;  // of kBlock entries each, which never move
  size_t size_ = 0;
  std::vector<uint32_t> places_;  // the size is a power of two; at most half of them are taken
};

}  // namespace whorl::explore
