// The set of the states that a search has visited, by their fingerprints: some 10 to 12 bytes each.
//
// The table is cut into 16 shards by the top bits of a key's first word. A shard stores the key's
// second word, 64 bits, in one array.
//
// Invariants:
//   1. A shard's array is sorted: a word's home is its value scaled to the size of the array, a word
//      stands at its home or after it, and between the two no place is empty. So a word is looked
//      for from its home to the first greater word, an empty place being the greatest word, and
//      growing is one sweep over both arrays.
//   2. A shard grows by a quarter when it is four fifths full. The shards' sizes at the start differ
//      by up to a quarter, so that they grow one after the other: no long pause, and the bytes for
//      each state stay the same at every size.
//   3. Shards share nothing: threads that work on different shards need no lock. Readers of a shard
//      need that nobody inserts into it.
//
// A state is omitted if another one has the same 68 bits of key (4 by the shard, 64 stored): among n
// states, n * (n - 1) / 2^69 omissions are expected, 4e-6 for 50 million states and 2e-3 for a
// thousand million.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/explore/engine/key.h"

namespace whorl::explore {

class FingerprintSet {
 public:
  static constexpr uint32_t kShards = 16;

  // Where a key belongs.
  struct Place {
    uint64_t word = 0;
    uint32_t shard = 0;
  };
  static Place PlaceOf(const Key128& key) {
    // The greatest word marks an empty place.
    return {.word = key.low - (key.low == kEmpty ? 1 : 0),
            .shard = static_cast<uint32_t>(key.high >> 60)};
  }

  FingerprintSet();

  // Fetches the place into the cache, for a look-up soon after. (Not always inlined, g++ 12 takes it
  // for a function without effect and drops the call.)
  [[gnu::always_inline]] void Prefetch(const Place& place) const {
    __builtin_prefetch(shards_[place.shard].Home(place.word));
  }

  bool Contains(const Place& place) const {
    return *shards_[place.shard].FirstNotLess(place.word) == place.word;
  }

  // False if it was there.
  bool Insert(const Place& place) {
    Shard& shard = shards_[place.shard];
    uint64_t* slot = shard.FirstNotLess(place.word);
    if (*slot == place.word) return false;
    shard.InsertBefore(slot, place.word);
    return true;
  }

  // Calls visit(place) for each, shard by shard, and in a shard in the order of the words.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (uint32_t i = 0; i < kShards; ++i) {
      const Shard& shard = shards_[i];
      for (uint64_t slot = 0; slot < shard.count; ++slot) {
        if (shard.slots[slot] != kEmpty) visit(Place{.word = shard.slots[slot], .shard = i});
      }
    }
  }

  // Replaces a shard by these words, which ascend, as ForEach gives them. One by one they would fill
  // it from one end, which takes the square of the time.
  // REQUIRES: the greatest word is not among them.
  void SetShard(uint32_t shard, std::span<const uint64_t> words) { shards_[shard].Set(words); }

  uint64_t size() const;
  size_t bytes() const;

  // How many of `states` different states may be taken for visited although they are not.
  static double ExpectedOmissions(uint64_t states);

 private:
  static constexpr uint64_t kEmpty = ~uint64_t{0};

  struct Shard {
    explicit Shard(uint64_t first_homes) { Allocate(first_homes); }

    uint64_t* Home(uint64_t word) const { return slots.get() + HighProduct(word, homes); }
    uint64_t* FirstNotLess(uint64_t word) const {
      uint64_t* slot = Home(word);
      while (*slot < word) ++slot;
      return slot;
    }
    void InsertBefore(uint64_t* slot, uint64_t word);
    void Set(std::span<const uint64_t> words);
    void Allocate(uint64_t new_homes);
    void Grow(uint64_t new_homes);
    // Moves the words of `old` here. They fit: where there are more homes, the last ones, however
    // many are counted, are those of as many words or fewer.
    void Take(const uint64_t* old, uint64_t old_count);

    struct Free {
      void operator()(uint64_t* memory) const;
    };
    std::unique_ptr<uint64_t[], Free> slots;
    uint64_t homes = 0;
    uint64_t room = 32;  // for the last run, beyond the last home
    uint64_t count = 0;  // of slots: homes, room, and one that stays empty
    uint64_t size = 0;
    uint64_t grow_at = 0;
  };

  std::vector<Shard> shards_;
};

}  // namespace whorl::explore
