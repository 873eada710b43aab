#include "sim/scenario/direction.h"

#include <array>
#include <cstddef>

namespace whorl::sim {
namespace {

// In the order of Direction.
constexpr std::array<std::string_view, 3> kDirections = {"both", "to", "from"};
constexpr std::array<std::string_view, 3> kWays = {"", " to Spanner", " from Spanner"};

}  // namespace

std::string_view DirectionText(Direction direction) {
  return kDirections[static_cast<size_t>(direction)];
}

std::string_view WayText(Direction direction) { return kWays[static_cast<size_t>(direction)]; }

}  // namespace whorl::sim
