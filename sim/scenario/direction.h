// The two ways between a node and Spanner.
#pragma once

#include <cstdint>

namespace whorl::sim {

enum class Direction : uint8_t {
  kBoth,
  kTo,    // requests, on their way to Spanner
  kFrom,  // replies, on their way back
};

// Whether `one` (kTo or kFrom) is among `ways`.
constexpr bool Covers(Direction ways, Direction one) {
  return ways == Direction::kBoth || ways == one;
}
constexpr bool Overlap(Direction a, Direction b) { return Covers(a, b) || Covers(b, a); }

}  // namespace whorl::sim
