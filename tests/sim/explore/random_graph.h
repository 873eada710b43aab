// A drawn graph as a model: its nodes are states, its edges are choices; some edges are faults, and
// some lead nowhere.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sim/explore/engine/key.h"

namespace whorl::explore {

class RandomGraph {
 public:
  struct State {
    uint32_t node = 0;
    std::string label;  // of this node; a state that is torn while it is moved has another's

    friend auto operator<=>(const State&, const State&) = default;
  };
  struct Choice {
    uint32_t edge = 0;  // its number among those of the node

    friend bool operator==(const Choice&, const Choice&) = default;
  };

  static constexpr int kTorn = 31;

  // Each node has 0 to 2 * `degree` edges.
  RandomGraph(uint32_t seed, uint32_t nodes, uint32_t degree) : random_(seed), nodes_(nodes) {
    for (Node& node : nodes_) {
      node.edges.resize(Draw(2 * degree + 1));
      for (Edge& edge : node.edges) {
        edge = {.to = Draw(nodes), .fault = Draw(6) == 0, .leads_nowhere = Draw(10) == 0};
      }
      for (uint32_t property = 0; property < kProperties; ++property) {
        if (Draw(nodes / 4 + 1) == 0) node.violated |= 1U << property;
      }
    }
    for (uint32_t i = 0; i <= Draw(3); ++i) initial_.push_back(StateOf(Draw(nodes)));
  }

  const std::vector<State>& Initial() const { return initial_; }

  template <typename Visit>
  void ForEachChoice(const State& state, Visit visit) const {
    const std::vector<Edge>& edges = nodes_[state.node].edges;
    for (uint32_t i = 0; i < edges.size(); ++i) visit(Choice{i}, edges[i].fault ? 1 : 0);
  }

  bool Take(const State& from, const Choice& choice, State& to) const {
    const Edge& edge = nodes_[from.node].edges[choice.edge];
    if (edge.leads_nowhere) return false;
    to = StateOf(edge.to);
    return true;
  }

  static Key128 Fingerprint(const State& state) { return KeyOf(state.node, 0); }

  uint32_t Judge(const State& state) const {
    const uint32_t torn = state.label == StateOf(state.node).label ? 0 : 1U << kTorn;
    return nodes_[state.node].violated | torn;
  }

  static uint64_t Kind(const State& state, int property) {
    return (state.node + static_cast<uint32_t>(property)) % kKinds;
  }

  static size_t BytesOf(const State& state) { return state.label.size(); }

  static constexpr uint64_t kKinds = 3;

 private:
  static constexpr uint32_t kProperties = 4;

  struct Edge {
    uint32_t to = 0;
    bool fault = false;
    bool leads_nowhere = false;
  };
  struct Node {
    std::vector<Edge> edges;
    uint32_t violated = 0;
  };

  static State StateOf(uint32_t node) {
    return {.node = node, .label = std::string(20, 'n') + std::to_string(node)};
  }

  uint32_t Draw(uint32_t below) { return static_cast<uint32_t>(random_()) % below; }

  std::minstd_rand random_;
  std::vector<Node> nodes_;
  std::vector<State> initial_;
};

}  // namespace whorl::explore
