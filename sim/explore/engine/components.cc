#include "sim/explore/engine/components.h"

#include <algorithm>
#include <deque>
#include <map>
#include <stdexcept>
#include <utility>

namespace whorl::explore {
namespace {

constexpr uint32_t kUnseen = ~uint32_t{0};

// Tarjan's algorithm without recursion: a path may have as many nodes as the graph.
class Tarjan {
 public:
  explicit Tarjan(const Graph& graph)
      : graph_(graph),
        component_(graph.nodes(), kUnseen),
        seen_(graph.nodes(), kUnseen),
        lowest_(graph.nodes()) {}

  std::vector<uint32_t> Run() {
    for (uint32_t node = 0; node < graph_.nodes(); ++node) {
      if (seen_[node] == kUnseen) Search(node);
    }
    return std::move(component_);
  }

 private:
  struct Visit {
    uint32_t node = 0;
    size_t next_edge = 0;
  };

  void Search(uint32_t root) {
    Enter(root);
    while (!path_.empty()) {
      Visit& visit = path_.back();
      const auto edges = graph_.EdgesOf(visit.node);
      if (visit.next_edge < edges.size()) {
        Look(visit.node, edges[visit.next_edge++].to);
      } else {
        Leave(visit.node);
      }
    }
  }

  void Enter(uint32_t node) {
    seen_[node] = lowest_[node] = next_seen_++;
    open_.push_back(node);
    path_.push_back({.node = node});
  }

  void Look(uint32_t from, uint32_t to) {
    if (seen_[to] == kUnseen) {
      Enter(to);
    } else if (component_[to] == kUnseen) {
      lowest_[from] = std::min(lowest_[from], seen_[to]);
    }
  }

  void Leave(uint32_t node) {
    path_.pop_back();
    if (!path_.empty()) {
      uint32_t& lowest = lowest_[path_.back().node];
      lowest = std::min(lowest, lowest_[node]);
    }
    if (lowest_[node] == seen_[node]) Close(node);
  }

  // Makes a component of the nodes that were opened from `root` on.
  void Close(uint32_t root) {
    while (component_[root] == kUnseen) {
      component_[open_.back()] = components_;
      open_.pop_back();
    }
    ++components_;
  }

  const Graph& graph_;
  std::vector<uint32_t> component_;  // kUnseen while it is open
  std::vector<uint32_t> seen_;       // by node: when it was entered, as a count
  std::vector<uint32_t> lowest_;     // by node: the first open node that it is known to reach
  std::vector<uint32_t> open_;
  std::vector<Visit> path_;
  uint32_t next_seen_ = 0;
  uint32_t components_ = 0;
};

}  // namespace

std::vector<uint32_t> Components(const Graph& graph) { return Tarjan(graph).Run(); }

std::optional<uint32_t> FairEntry(const Graph& graph, uint32_t required) {
  struct Inside {
    bool has_edge = false;
    uint32_t classes = 0;
  };
  const std::vector<uint32_t> components = Components(graph);
  std::vector<Inside> inside(graph.nodes());
  for (uint32_t node = 0; node < graph.nodes(); ++node) {
    for (const Edge& edge : graph.EdgesOf(node)) {
      if (components[edge.to] != components[node]) continue;
      inside[components[node]].has_edge = true;
      inside[components[node]].classes |= edge.classes;
    }
  }
  for (uint32_t node = 0; node < graph.nodes(); ++node) {
    const Inside& component = inside[components[node]];
    if (component.has_edge && (component.classes & required) == required) return node;
  }
  return std::nullopt;
}

std::vector<Edge> ShortestFairLoop(const Graph& graph, uint32_t node, uint32_t required) {
  using Place = std::pair<uint32_t, uint32_t>;  // a node, and the classes on the way to it
  struct Step {
    Place from;
    Edge edge;
  };
  std::map<Place, Step> steps;
  std::deque<Place> open = {{node, 0}};
  const Place end = {node, required};
  while (!open.empty() && !steps.contains(end)) {
    const Place from = open.front();
    open.pop_front();
    for (const Edge& edge : graph.EdgesOf(from.first)) {
      const Place to = {edge.to, from.second | (edge.classes & required)};
      if (steps.emplace(to, Step{from, edge}).second) open.push_back(to);
    }
  }
  if (!steps.contains(end)) throw std::logic_error("there is no fair loop through this node");
  std::vector<Edge> loop;
  Place place = end;
  do {
    const Step& step = steps.at(place);
    loop.push_back(step.edge);
    place = step.from;
  } while (place != Place{node, 0});
  std::ranges::reverse(loop);
  return loop;
}

}  // namespace whorl::explore
