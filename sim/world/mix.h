// Mixes numbers for the counter-based generators behind every draw, and declares the 128-bit
// integers that these need.
#pragma once

#include <cassert>
#include <cstdint>

namespace whorl::sim {

// For products that must not overflow or be rounded. Both g++ and clang++ have them.
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

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

// Maps uniform `bits` to a uniform number in [lo, hi], exact to within 2^-64 of the range: the high
// half of a 128-bit product. REQUIRES: lo <= hi.
constexpr int64_t Between(uint64_t bits, int64_t lo, int64_t hi) {
  assert(lo <= hi);
  const auto range = static_cast<Uint128>(static_cast<uint64_t>(hi - lo)) + 1;
  return lo + static_cast<int64_t>(static_cast<uint64_t>(bits * range >> 64));
}

}  // namespace whorl::sim
