// Takes the choices of a path that a search has found.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include "sim/explore/engine/model.h"
#include "sim/explore/engine/path.h"

namespace whorl::explore {

// Follows choices by their value. Nothing if one of them is not offered, or leads nowhere.
template <Model M>
  requires std::equality_comparable<typename M::Choice>
std::optional<Walk<M>> Follow(M& model, const Path<typename M::Choice>& path) {
  Walk<M> walk = BeginWalk(model, path.initial);
  for (const typename M::Choice& wanted : path.choices) {
    uint64_t next = 0;
    std::optional<uint64_t> number;
    model.ForEachChoice(walk.state, [&](const typename M::Choice& choice, int) {
      if (!number && choice == wanted) number = next;
      ++next;
    });
    if (!number || !Step(model, walk, *number)) return std::nullopt;
  }
  return walk;
}

}  // namespace whorl::explore
