// Defines the 128-bit fingerprint by which the search identifies a state, and functions that make one.
#pragma once

#include <compare>
#include <cstdint>

namespace whorl::explore {

// REQUIRES of code that makes a key: states with equal canonical forms have equal keys, each bit of a key depends on
// each bit of the state, and a state has the same key in every process and with every compiler.
struct Key128 {
  uint64_t high = 0;
  uint64_t low = 0;

  friend constexpr auto operator<=>(const Key128&, const Key128&) = default;
};

// Sums of keys, word by word, do not depend on the order in which keys are added.
constexpr void AddTo(Key128& sum, const Key128& key) {
  sum.high += key.high;
  sum.low += key.low;
}

__extension__ typedef unsigned __int128 Uint128;

constexpr uint64_t HighProduct(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>(static_cast<Uint128>(a) * b >> 64);
}

// SplitMix64's finaliser: every bit of the input moves every bit of the output.
constexpr uint64_t MixBits(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return x;
}

// The key of two words. Different pairs of words always have different keys.
constexpr Key128 KeyOf(uint64_t first, uint64_t second) {
  const uint64_t low = MixBits(first + 0x9e3779b97f4a7c15ULL * MixBits(second + 1));
  return {.high = MixBits(second + 0x9e3779b97f4a7c15ULL * low), .low = low};
}

// The key of a sequence that is followed by `word`. `key`: that of the sequence.
constexpr Key128 Extend(Key128 key, uint64_t word) {
  return KeyOf(key.high ^ MixBits(word + 0x9e3779b97f4a7c15ULL), key.low + word);
}
constexpr Key128 Extend(const Key128& key, const Key128& other) {
  return Extend(Extend(key, other.high), other.low);
}

}  // namespace whorl::explore
