#include "sim/world/resource.h"

namespace whorl::sim {

bool ResourceTakes(bool fenced, const std::optional<TokenNumber>& token,
                   std::optional<TokenNumber>& greatest) {
  if (!fenced) return true;
  const bool takes = token && (!greatest || *token >= *greatest);
  if (takes) greatest = token;
  return takes;
}

}  // namespace whorl::sim
