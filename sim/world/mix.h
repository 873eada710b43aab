// The mixing behind every draw: a counter-based generator's, so that each draw can be named.
#pragma once

#include <cstdint>

#include "sim/world/wide.h"

namespace whorl::sim {

inline constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

// SplitMix64's finaliser: every bit of the input moves every bit of the output.
constexpr uint64_t Mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return x;
}

constexpr uint64_t Combine(uint64_t hash, uint64_t word) { return Mix(hash + kGolden + Mix(word)); }

// In [lo, hi], uniform when `bits` are: the high half of a 128-bit product, to within 2^-64 of the
// range.
constexpr int64_t Between(uint64_t bits, int64_t lo, int64_t hi) {
  const auto range = static_cast<Uint128>(static_cast<uint64_t>(hi - lo)) + 1;
  return lo + static_cast<int64_t>(static_cast<uint64_t>(bits * range >> 64));
}

}  // namespace whorl::sim
