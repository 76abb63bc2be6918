// The maximum flow through a small network, by Dinic's algorithm, in any ordered scalar: exact in fractions and in
// integers. Plans of verifiers are flows from drafted sets to tokens.
//
//   c(e)   add_edge(..)   capacity of edge e; the reverse edge holds the capacity to undo its flow
//   f(e)   flow(e)        flow through e
//
// Cost: O(nodes^2 edges) at worst, near O(edges) a phase on the two-layer networks here.
// Correctness: it ends when no path from source to sink has capacity left, the max-flow min-cut condition.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <type_traits>
#include <utility>
#include <vector>

namespace draftproof {

template <class Capacity>
class MaxFlow {
 public:
  /// A network of `nodes` nodes without edges.
  explicit MaxFlow(int nodes) : leaving_(index(nodes)) {}

  /// Adds an edge; returns its number, for flow().
  int add_edge(int from, int to, Capacity capacity) {
    const int edge = static_cast<int>(edges_.size());
    edges_.push_back({to, std::move(capacity)});
    edges_.push_back({from, Capacity{0}});
    leaving_[index(from)].push_back(edge);
    leaving_[index(to)].push_back(edge + 1);
    return edge;
  }

  /// Computes the flow; to be called once.
  void run(int source, int sink) {
    while (find_levels(source, sink)) {
      next_.assign(leaving_.size(), 0);
      push(source, sink, nullptr);
    }
  }

  /// Flow through the edge with this number.
  const Capacity& flow(int edge) const { return edges_[index(edge) ^ 1].left; }

 private:
  struct Edge {
    int to;
    Capacity left;
  };
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  bool find_levels(int source, int sink) {
    level_.assign(leaving_.size(), -1);
    level_[index(source)] = 0;
    std::queue<int> reached;
    for (reached.push(source); !reached.empty(); reached.pop())
      for (const int edge : leaving_[index(reached.front())]) {
        const auto& [to, left] = edges_[index(edge)];
        if (level_[index(to)] >= 0 || !(left > Capacity{0})) continue;
        level_[index(to)] = level_[index(reached.front())] + 1;
        reached.push(to);
      }
    return level_[index(sink)] >= 0;
  }

  /// Sends as much as possible from `node` on, at most `limit`; null at the source: no limit. Returns how much.
  Capacity push(int node, int sink, const Capacity* limit) {
    if (node == sink) return *limit;
    Capacity sent{0};
    for (std::size_t& i = next_[index(node)]; i < leaving_[index(node)].size(); ++i) {
      const int edge = leaving_[index(node)][i];
      Edge& forward = edges_[index(edge)];
      if (!(forward.left > Capacity{0}) || level_[index(forward.to)] != level_[index(node)] + 1) continue;
      const Capacity most = limit ? std::min<Capacity>(forward.left, Capacity(*limit - sent)) : forward.left;
      const Capacity through = push(forward.to, sink, &most);
      forward.left -= through;
      edges_[index(edge) ^ 1].left += through;
      sent += through;
      if (limit && !(sent < *limit)) break;  // this edge may have capacity left: keep it
    }
    return sent;
  }

  std::vector<Edge> edges_;  ///< an edge and its reverse are adjacent
  std::vector<std::vector<int>> leaving_;
  std::vector<int> level_;
  std::vector<std::size_t> next_;
};

/// The scalar in which a flow of probabilities is computed: integers for floating-point numbers, so that rounding
/// cannot leave a path partly used.
template <class Scalar>
using FlowCapacity = std::conditional_t<std::is_floating_point_v<Scalar>, std::int64_t, Scalar>;

/// Multiples of 2^-52, rounded down: flows convert back without rounding, sums of them up to 2 are exact, and none
/// exceeds its probability. The loss of a plan is below 2^-52 for each capacity.
template <class Scalar>
FlowCapacity<Scalar> to_capacity(const Scalar& probability) {
  if constexpr (std::is_floating_point_v<Scalar>)
    return static_cast<std::int64_t>(static_cast<double>(probability) * 0x1p52);
  else
    return probability;
}
template <class Scalar>
Scalar from_capacity(const FlowCapacity<Scalar>& capacity) {
  if constexpr (std::is_floating_point_v<Scalar>)
    return static_cast<Scalar>(static_cast<double>(capacity) * 0x1p-52);
  else
    return capacity;
}

}  // namespace draftproof
