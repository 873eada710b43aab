// The two ways between a node and Spanner.
#pragma once

#include <cstdint>
#include <string_view>

namespace whorl::sim {

enum class Direction : uint8_t {
  kBoth,
  kTo,    // requests, on their way to Spanner
  kFrom,  // replies, on their way back
};

// Whether `ways` includes `one`. REQUIRES: `one` is kTo or kFrom.
constexpr bool Covers(Direction ways, Direction one) {
  return ways == Direction::kBoth || ways == one;
}
constexpr bool Overlap(Direction a, Direction b) { return Covers(a, b) || Covers(b, a); }

std::string_view DirectionText(Direction direction);
// " to Spanner" or " from Spanner"; empty for both ways.
std::string_view WayText(Direction direction);

}  // namespace whorl::sim
