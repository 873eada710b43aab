// Stores the set of the states that a search has visited, as fingerprints of some 10 to 12 bytes each.
//
// The table is cut into 16 shards by the top bits of a key's first word. A shard stores the key's
// second word, 64 bits, in one array.
//
// Invariants:
//   1. A shard's array is sorted. A word's home is its value scaled to the size of the array; the word is stored at
//      its home or after it, with no empty slot between the two. An empty slot holds the greatest word. So a look-up
//      goes from the word's home to the first word that is not less, and growing is one sweep over both arrays.
//   2. A shard grows by a quarter when it is four fifths full. The initial sizes of shards differ by up to a quarter,
//      so that shards grow at different times: no pause is long, and the bytes for each state are the same at every
//      size.
//   3. Shards share nothing: threads that work on different shards need no lock. While a shard is read, no thread may
//      insert into it.
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

  // The shard of a key, and the word that is stored there.
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

  // Fetches the place into the cache, for a look-up soon after. It is always inlined, since g++ 12 otherwise drops
  // the call: it takes the function to have no effect.
  [[gnu::always_inline]] void Prefetch(const Place& place) const {
    __builtin_prefetch(shards_[place.shard].Home(place.word));
  }

  bool Contains(const Place& place) const {
    return *shards_[place.shard].FirstNotLess(place.word) == place.word;
  }

  // Adds the fingerprint. False if it was there before.
  bool Insert(const Place& place) {
    Shard& shard = shards_[place.shard];
    uint64_t* slot = shard.FirstNotLess(place.word);
    if (*slot == place.word) return false;
    shard.InsertBefore(slot, place.word);
    return true;
  }

  // Calls visit(place) for each fingerprint, shard by shard, and within a shard in ascending order of the words.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (uint32_t i = 0; i < kShards; ++i) {
      const Shard& shard = shards_[i];
      for (uint64_t slot = 0; slot < shard.count; ++slot) {
        if (shard.slots[slot] != kEmpty) visit(Place{.word = shard.slots[slot], .shard = i});
      }
    }
  }

  // Replaces a shard's words by these. Inserting ascending words one by one would take quadratic time.
  // REQUIRES: they ascend, as ForEach gives them, and the greatest word is not among them.
  void SetShard(uint32_t shard, std::span<const uint64_t> words) { shards_[shard].Set(words); }

  uint64_t size() const;
  size_t bytes() const;

  // How many of `states` different states are expected to be omitted since they seem visited and are not.
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
    // Moves the words of `old` here. They fit: with more homes, any number of homes at the end has at most as many
    // words as before.
    void Take(const uint64_t* old, uint64_t old_count);

    struct Free {
      void operator()(uint64_t* memory) const;
    };
    std::unique_ptr<uint64_t[], Free> slots;
    uint64_t homes = 0;
    uint64_t room = 32;  // slots beyond the last home, for the words of the last homes
    uint64_t count = 0;  // all slots: homes, room, and one that stays empty
    uint64_t size = 0;
    uint64_t grow_at = 0;
  };

  std::vector<Shard> shards_;
};

}  // namespace whorl::explore
