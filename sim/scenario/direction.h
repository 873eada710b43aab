// Names the two ways between a node and Spanner.
#pragma once

#include <cstdint>
#include <string_view>

#include "protocol/spanner/words.h"

namespace whorl::sim {

enum class Direction : uint8_t {
  kBoth,
  kTo,    // requests, on their way to Spanner
  kFrom,  // replies, on their way back
};
constexpr auto WordTableOf(Direction) {
  return MakeWordTable<Direction>({
      {Direction::kBoth, "both"},
      {Direction::kTo, "to"},
      {Direction::kFrom, "from"},
  });
}

// Whether `ways` includes `one`. REQUIRES: `one` is kTo or kFrom.
constexpr bool Covers(Direction ways, Direction one) {
  return ways == Direction::kBoth || ways == one;
}
constexpr bool Overlap(Direction a, Direction b) { return Covers(a, b) || Covers(b, a); }

// " to Spanner" or " from Spanner"; empty for both ways.
constexpr std::string_view WayText(Direction direction) {
  constexpr auto kTexts = MakeTextTable<Direction>({
      {Direction::kBoth, ""},
      {Direction::kTo, " to Spanner"},
      {Direction::kFrom, " from Spanner"},
  });
  return kTexts[direction];
}

}  // namespace whorl::sim
