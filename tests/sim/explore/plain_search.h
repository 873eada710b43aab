// Searches in the plainest way: it keeps whole states in an ordered map, and finds the least
// (faults, steps) of each by Dijkstra's algorithm. Tests compare the engine's results with it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "sim/explore/engine/model.h"

namespace whorl::explore {

using Cost = std::pair<int, int>;  // faults and steps

template <typename State>
struct PlainResult {
  std::map<State, Cost> states;
  uint64_t transitions = 0;
  std::map<int, Cost> violations;  // of each violated property, what its nearest state costs
  std::array<uint64_t, kMaxProperties> violating = {};
};

// REQUIRES: states are ordered, and those that differ are different: each is its own canonical form.
template <Model M>
PlainResult<typename M::State> SearchPlainly(M& model, int max_faults) {
  using State = typename M::State;
  PlainResult<State> result;
  std::set<std::pair<Cost, State>> open;
  for (const State& state : model.Initial()) open.emplace(Cost{0, 0}, state);
  while (!open.empty()) {
    const auto [cost, state] = open.extract(open.begin()).value();
    if (!result.states.emplace(state, cost).second) continue;
    for (uint32_t bits = model.Judge(state); bits != 0; bits &= bits - 1) {
      result.violations.emplace(std::countr_zero(bits), cost);
      ++result.violating[static_cast<size_t>(std::countr_zero(bits))];
    }
    model.ForEachChoice(state, [&](const typename M::Choice& choice, int faults) {
      State to = state;
      if (cost.first + faults > max_faults || !model.Take(state, choice, to)) return;
      ++result.transitions;
      open.emplace(Cost{cost.first + faults, cost.second + 1}, to);
    });
  }
  return result;
}

}  // namespace whorl::explore
