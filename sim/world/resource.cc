#include "sim/world/resource.h"

namespace whorl::sim {

bool ResourceTakes(bool fenced, const std::optional<uint64_t>& token,
                   std::optional<uint64_t>& greatest) {
  if (!fenced) return true;
  const bool takes = token && (!greatest || *token >= *greatest);
  if (takes) greatest = token;
  return takes;
}

}  // namespace whorl::sim
