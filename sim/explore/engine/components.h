// Finds fair loops in a graph whose edges belong to classes: a loop is fair if it has an edge of each class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace whorl::explore {

struct Edge {
  uint32_t to = 0;
  uint32_t classes = 0;  // a bit set
};

// Nodes are added one after the other, each with its edges.
class Graph {
 public:
  void AddEdge(const Edge& edge) { edges_.push_back(edge); }
  void EndNode() { ends_.push_back(edges_.size()); }
  // The graph with only those edges that have at least one of these classes.
  Graph Within(uint32_t classes) const {
    Graph graph;
    for (uint32_t node = 0; node < nodes(); ++node) {
      for (const Edge& edge : EdgesOf(node)) {
        if ((edge.classes & classes) != 0) graph.AddEdge(edge);
      }
      graph.EndNode();
    }
    return graph;
  }
  // Makes each edge to node i an edge to node numbers[i].
  void Renumber(std::span<const uint32_t> numbers) {
    for (Edge& edge : edges_) edge.to = numbers[edge.to];
  }

  uint32_t nodes() const { return static_cast<uint32_t>(ends_.size()); }
  size_t edges() const { return edges_.size(); }
  size_t bytes() const {
    return edges_.capacity() * sizeof(Edge) + ends_.capacity() * sizeof(size_t);
  }
  std::span<const Edge> EdgesOf(uint32_t node) const {
    const size_t begin = node == 0 ? 0 : ends_[node - 1];
    return std::span(edges_).subspan(begin, ends_[node] - begin);
  }

 private:
  std::vector<Edge> edges_;
  std::vector<size_t> ends_;
};

// The strongly connected component of each node, by Tarjan's algorithm.
std::vector<uint32_t> Components(const Graph& graph);

// The first node that is on a fair loop; nullopt if there is no fair loop. A loop has at least one edge, even if no
// class is required.
std::optional<uint32_t> FairEntry(const Graph& graph, uint32_t required);

// The shortest fair loop from `node` to itself. REQUIRES: there is one, and there are few classes, since each node is
// visited once for each set of classes.
std::vector<Edge> ShortestFairLoop(const Graph& graph, uint32_t node, uint32_t required);

}  // namespace whorl::explore
