// Gives keys numbers in the order in which they are added, with some 24 bytes for each key.
//
// The keys are stored in the order of their numbers. A hash table with open addressing, whose size is a power of two,
// holds only the numbers; its hash is the key's low word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <stdexcept>
#include <vector>

#include "sim/explore/engine/key.h"

namespace whorl::explore {

class KeyNumbers {
 public:
  // The key's number; adds the key if it is new. Throws std::length_error if all numbers are taken.
  uint32_t NumberOf(const Key128& key) {
    uint32_t& place = PlaceOf(key);
    if (place != kEmpty) return place;
    if (keys_.size() == kEmpty) throw std::length_error("too many keys to number");
    const auto number = static_cast<uint32_t>(keys_.size());
    place = number;
    keys_.push_back(key);
    if (keys_.size() * 4 > places_.size() * 3) Grow();
    return number;
  }
  // The key's number; nullopt if the key was not added.
  std::optional<uint32_t> Find(const Key128& key) const {
    const uint32_t number = places_[IndexOf(key)];
    return number == kEmpty ? std::nullopt : std::optional(number);
  }
  // The key that has this number. REQUIRES: number < size().
  const Key128& operator[](uint32_t number) const { return keys_[number]; }

  uint32_t size() const { return static_cast<uint32_t>(keys_.size()); }
  size_t bytes() const {
    return keys_.size() * sizeof(Key128) + places_.capacity() * sizeof(uint32_t);
  }

 private:
  static constexpr uint32_t kEmpty = ~uint32_t{0};

  uint32_t& PlaceOf(const Key128& key) { return places_[IndexOf(key)]; }
  // The index in the table at which the key's number is, or would be.
  size_t IndexOf(const Key128& key) const {
    const size_t mask = places_.size() - 1;
    size_t index = key.low & mask;
    while (places_[index] != kEmpty && keys_[places_[index]] != key) index = (index + 1) & mask;
    return index;
  }
  void Grow() {
    places_ = std::vector(places_.size() * 2, kEmpty);
    for (uint32_t number = 0; number < size(); ++number) PlaceOf(keys_[number]) = number;
  }

  std::deque<Key128> keys_;
  std::vector<uint32_t> places_ = std::vector(64, kEmpty);
};

}  // namespace whorl::explore
