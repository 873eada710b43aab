// Records the graph of the states of a model that are bad in some respect while a search expands them: keys and
// edges, no states. Edges join states that are bad in the same respect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "sim/explore/engine/components.h"
#include "sim/explore/engine/key.h"
#include "sim/explore/engine/key_numbers.h"
#include "sim/explore/engine/model.h"

namespace whorl::explore {

// The classes of an edge: those of its choice, and, from kFirstRespect on, the respects in which both ends are bad.
inline constexpr int kFirstRespect = 16;
inline constexpr uint32_t kRespects = ~uint32_t{0} << kFirstRespect;

// Holds bad states that one thread has expanded, in the order of their numbers in the search.
struct ExpandedBadStates {
  struct State {
    uint64_t number = 0;
    Key128 key;
    size_t edges_end = 0;  // its edges are those from the previous state's end up to this one
  };
  struct EdgeTo {
    Key128 key;
    uint32_t classes = 0;
  };
  std::vector<State> states;
  std::vector<EdgeTo> edges;

  void clear() {
    states.clear();
    edges.clear();
  }
  size_t bytes() const {
    return states.capacity() * sizeof(State) + edges.capacity() * sizeof(EdgeTo);
  }
};

// The graph of all bad states. Its nodes are in the order in which the search expands states, by (faults, steps).
class BadGraph {
 public:
  // Adds states. REQUIRES: the search expanded them after those that were added before.
  void Add(const ExpandedBadStates& expanded) {
    size_t edge = 0;
    for (const ExpandedBadStates::State& state : expanded.states) {
      const uint32_t key = keys_.NumberOf(state.key);
      for (; edge < state.edges_end; ++edge) {
        const ExpandedBadStates::EdgeTo& to = expanded.edges[edge];
        graph_.AddEdge({.to = keys_.NumberOf(to.key), .classes = to.classes});
      }
      EndState(state.number, key);
    }
  }

  // The next functions add states piece by piece, for a checkpoint: first all keys; then, for each state, its edges,
  // which name keys by their numbers, and the state, by its number in the search and its key's number.
  uint32_t AddKey(const Key128& key) { return keys_.NumberOf(key); }
  void AddEdge(const Edge& edge) { graph_.AddEdge(edge); }
  void EndState(uint64_t number, uint32_t key) {
    if (!numbers_.empty() && number <= numbers_.back()) {
      throw std::logic_error("a search expands its states in another order than it visits them");
    }
    numbers_.push_back(number);
    key_of_.push_back(key);
    graph_.EndNode();
  }

  // Completes the graph: from now on edges name nodes. States that were found and not expanded become the
  // last nodes, without edges.
  void Finish() {
    constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
    std::vector<uint32_t> node_of(keys_.size(), kNone);
    for (uint32_t node = 0; node < key_of_.size(); ++node) node_of[key_of_[node]] = node;
    for (uint32_t key = 0; key < keys_.size(); ++key) {
      if (node_of[key] != kNone) continue;
      node_of[key] = graph_.nodes();
      key_of_.push_back(key);
      graph_.EndNode();
    }
    graph_.Renumber(node_of);
  }

  // Edges store keys until Finish().
  const Graph& graph() const { return graph_; }
  const KeyNumbers& keys() const { return keys_; }
  uint32_t KeyNumberOf(uint32_t node) const { return key_of_[node]; }
  const Key128& KeyOf(uint32_t node) const { return keys_[key_of_[node]]; }
  // How many states were expanded, and the numbers that the search gave them.
  uint32_t expanded() const { return static_cast<uint32_t>(numbers_.size()); }
  uint64_t NumberOf(uint32_t node) const { return numbers_[node]; }
  size_t bytes() const {
    return graph_.bytes() + keys_.bytes() + numbers_.capacity() * sizeof(uint64_t) +
           key_of_.capacity() * sizeof(uint32_t);
  }

 private:
  KeyNumbers keys_;  // of the bad states that were found
  Graph graph_;
  std::vector<uint64_t> numbers_;  // by node
  std::vector<uint32_t> key_of_;   // by node
};

// Wraps the model, and records the bad states that its thread expands.
template <Model M, typename Bad, typename Fairness>
class Recording {
 public:
  struct State {
    typename M::State state;
    Key128 key;
    uint32_t bad = 0;  // by respect
  };
  using Choice = typename M::Choice;

  Recording(M& model, Bad bad, Fairness fairness) : model_(model), bad_(bad), fairness_(fairness) {}

  std::vector<State> Initial() {
    std::vector<State> all;
    for (auto&& state : model_.Initial()) {
      all.push_back({.state = state});
      Mark(all.back());
    }
    return all;
  }
  void BeginExpanding(const State& from, uint64_t number) {
    expands_bad_ = from.bad != 0;
    if (expands_bad_) expanded_.states.push_back({.number = number, .key = from.key});
  }
  void EndExpanding() {
    if (expands_bad_) expanded_.states.back().edges_end = expanded_.edges.size();
    expands_bad_ = false;
  }
  template <typename Visit>
  void ForEachChoice(const State& from, Visit visit) {
    model_.ForEachChoice(from.state, [&](const Choice& choice, int faults) {
      is_fault_ = faults > 0;
      visit(choice, faults);
    });
  }
  bool Take(const State& from, const Choice& choice, State& to) {
    if (!model_.Take(from.state, choice, to.state)) return false;
    Mark(to);
    const uint32_t both = from.bad & to.bad;
    if (expands_bad_ && !is_fault_ && both != 0) {
      expanded_.edges.push_back(
          {.key = to.key, .classes = fairness_(choice) | both << kFirstRespect});
    }
    return true;
  }
  Key128 Fingerprint(const State& state) { return state.key; }
  uint32_t Judge(const State&) { return 0; }  // no state is a violation
  size_t BytesOf(const State& state) {
    if constexpr (requires { model_.BytesOf(state.state); }) return model_.BytesOf(state.state);
    return 0;
  }
  size_t OwnBytes() {
    size_t bytes = expanded_.bytes();
    if constexpr (requires { model_.OwnBytes(); }) bytes += model_.OwnBytes();
    return bytes;
  }

  // Moves the states that were expanded since the last call to the graph.
  void MoveTo(BadGraph& graph) {
    graph.Add(expanded_);
    expanded_.clear();
  }

 private:
  void Mark(State& state) {
    state.key = model_.Fingerprint(state.state);
    state.bad = bad_(state.state);
  }

  M& model_;
  Bad bad_;
  Fairness fairness_;
  ExpandedBadStates expanded_;
  bool expands_bad_ = false;
  bool is_fault_ = false;  // whether the choice that is visited has a fault
};

}  // namespace whorl::explore
