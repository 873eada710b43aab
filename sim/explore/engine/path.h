// Rebuilds paths of a search from its links, by taking the choices again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/explore/engine/link_log.h"
#include "sim/explore/engine/model.h"
#include "sim/explore/engine/result.h"

namespace whorl::explore {

// A path, and the state where it ends.
template <Model M>
struct Walk {
  Path<typename M::Choice> path;
  int faults = 0;
  typename M::State state;
};

// Begins a path at the initial state of this number.
template <Model M>
Walk<M> BeginWalk(M& model, size_t initial) {
  for (size_t i = 0; auto&& state : model.Initial()) {
    if (i++ == initial) return {.path = {.initial = initial, .choices = {}}, .state = state};
  }
  throw std::out_of_range("there is no such initial state");
}

// Extends the path by the choice of this number. False if the state does not offer it, or if it leads nowhere.
template <Model M>
bool Step(M& model, Walk<M>& walk, uint64_t number) {
  uint64_t next = 0;
  std::optional<std::pair<typename M::Choice, int>> found;
  model.ForEachChoice(walk.state, [&](const typename M::Choice& choice, int faults) {
    if (next++ == number) found.emplace(choice, faults);
  });
  if (!found) return false;
  typename M::State to = walk.state;
  if (!model.Take(walk.state, found->first, to)) return false;
  walk.state = std::move(to);
  walk.path.choices.push_back(found->first);
  walk.faults += found->second;
  return true;
}

// The path to the state of this number. `roots`: the number of initial states, with which the log begins.
template <Model M>
Walk<M> WalkTo(M& model, const LinkLog& log, uint64_t roots, uint64_t number) {
  std::vector<uint64_t> choices;
  for (; number >= roots; number = log[number].parent()) choices.push_back(log[number].choice());
  Walk<M> walk = BeginWalk(model, log[number].choice());
  for (const uint64_t choice : choices | std::views::reverse) {
    if (!Step(model, walk, choice))
      throw std::logic_error("a model offers other choices than it did");
  }
  return walk;
}

}  // namespace whorl::explore
