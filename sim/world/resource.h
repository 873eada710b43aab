// Simulates the resource that the lock protects: one that fences, and one that accepts every write.
// The simulated world (world.cc) and real runs (live/coordinator.cc) share its rules.
#pragma once

#include <optional>

#include "protocol/token.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// Whether a write to `kind` goes to the resource that fences, or to the one that does not.
constexpr bool WritesTo(ResourceKind kind, bool fenced) {
  return kind != (fenced ? ResourceKind::kUnfenced : ResourceKind::kFenced);
}

// Whether the resource accepts the write. The fencing resource keeps the greatest token that it has
// accepted in `greatest`, and refuses smaller ones.
bool ResourceTakes(bool fenced, const std::optional<TokenNumber>& token,
                   std::optional<TokenNumber>& greatest);

}  // namespace whorl::sim
