// The graph of those states of a model that are bad in some respect, written down while one thread
// searches the model: keys and edges, and no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <vector>

#include "sim/explore/engine/components.h"
#include "sim/explore/engine/key.h"
#include "sim/explore/engine/key_numbers.h"
#include "sim/explore/engine/model.h"

namespace whorl::explore {

// The graph of the bad states that a search meets. They are numbered in the order in which the search
// visits and expands them, which is that of (faults, steps).
class BadGraph {
 public:
  // A state is visited, in the order of the search's own numbers.
  void Visit(const Key128& key, bool is_bad) {
    if (is_bad) {
      Meet(key);
      visits_.push_back(visited_);
    }
    ++visited_;
  }
  // A bad state is reached without a fault: it is visited next, if it was not visited before.
  uint32_t Meet(const Key128& key) { return numbers_.NumberOf(key); }
  // The next bad state is expanded, and has these edges.
  void AddEdge(const Key128& to, uint32_t classes) {
    graph_.AddEdge({.to = Meet(to), .classes = classes});
  }
  void EndState(const Key128& key) {
    if (numbers_.Find(key) != graph_.nodes()) {
      throw std::logic_error("a search expands its states in another order than it visits them");
    }
    graph_.EndNode();
  }
  // Those that were met and not expanded have no edges.
  void End() {
    while (graph_.nodes() < numbers_.size()) graph_.EndNode();
  }

  const Graph& graph() const { return graph_; }
  const KeyNumbers& numbers() const { return numbers_; }
  // The search's own number of a bad state that it has visited.
  uint64_t VisitOf(uint32_t number) const { return visits_[number]; }
  size_t bytes() const {
    return graph_.bytes() + numbers_.bytes() + visits_.size() * sizeof(uint64_t);
  }

 private:
  KeyNumbers numbers_;
  Graph graph_;
  std::deque<uint64_t> visits_;  // of the bad states
  uint64_t visited_ = 0;
};

// The model itself, but writing down the graph of its bad states when one thread searches it.
template <Model M, typename Bad, typename Fairness>
class Recording {
 public:
  struct State {
    typename M::State state;
    Key128 key;
    bool is_bad = false;
  };
  using Choice = typename M::Choice;

  Recording(M& model, Bad bad, Fairness fairness, BadGraph& graph)
      : model_(model), bad_(bad), fairness_(fairness), graph_(graph) {}

  std::vector<State> Initial() {
    std::vector<State> all;
    for (auto&& state : model_.Initial()) {
      all.push_back({.state = state});
      Mark(all.back());
    }
    return all;
  }
  template <typename Visit>
  void ForEachChoice(const State& from, Visit visit) {
    model_.ForEachChoice(from.state, [&](const Choice& choice, int faults) {
      is_fault_ = faults > 0;
      visit(choice, faults);
    });
    if (from.is_bad) graph_.EndState(from.key);
  }
  bool Take(const State& from, const Choice& choice, State& to) {
    if (!model_.Take(from.state, choice, to.state)) return false;
    Mark(to);
    if (is_fault_ || !to.is_bad) return true;
    if (from.is_bad) {
      graph_.AddEdge(to.key, fairness_(choice));
    } else {
      graph_.Meet(to.key);
    }
    return true;
  }
  Key128 Fingerprint(const State& state) { return state.key; }
  // No state is a violation: called once for each that is visited.
  uint32_t Judge(const State& state) {
    graph_.Visit(state.key, state.is_bad);
    return 0;
  }
  size_t BytesOf(const State& state) {
    if constexpr (requires { model_.BytesOf(state.state); }) return model_.BytesOf(state.state);
    return 0;
  }

 private:
  void Mark(State& state) {
    state.key = model_.Fingerprint(state.state);
    state.is_bad = bad_(state.state);
  }

  M& model_;
  Bad bad_;
  Fairness fairness_;
  BadGraph& graph_;
  bool is_fault_ = false;  // the choice that is visited
};

}  // namespace whorl::explore
