#include "sim/world/observation.h"

#include <array>
#include <cstddef>

namespace whorl::sim {

std::string_view LinkStateText(LinkState link) {
  constexpr std::array<std::string_view, 3> kWords = {"up", "black_holed", "refused"};
  return kWords[static_cast<size_t>(link)];
}

}  // namespace whorl::sim
