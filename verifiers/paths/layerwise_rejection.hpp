// Layerwise verification: every node has a score that depends on the layers down to the node's layer, and the layers
// are swept from the deepest up, to find the node at which the step stops. The sweep is lossless for any admissible
// scores; the scores here divide the layer above by recursive rejection.
//
//   S(u)         node.score      probability to stop at u or below it, given the layers down to u; S(root) = 1
//   c            total           sum of S over a layer, at most 1
//   B            share           S(u) / c: bounds the sum of the scores of u's children; sums to 1 over a layer
//   x_1 .. x_K'  draws(u)        drafts after u, independent draws of q, with repeats
//   a_k          num / den       min(1, c_k (p - b_k q)(x_k) / (F(b_k) q(x_k))), c_1 = c, b_1 = 0
//   S(u x_k)     score           B (1 - a_1) .. (1 - a_(k-1)) a_k, summed over repeats
//   l_k          average         1 - c_k + c_k F(b_(k+1)) / F(b_k) = E[1 - a_k];  l = l_1 .. l_K'
//   next b, c    b, c            b + F(b) / c,  c F(b_(k+1)) / (F(b_k) l_k)
//
// If the sweep did not stop in a deeper layer, it stops at u with probability B l c_(K'+1) over the sum of B l in the
// layer, and emits from (p - b q)+ with the last b; at depth L it stops with S(u) and emits from p. One path is block
// verification. Expected accepted tokens: the sum of E[c] over the layers.
// Cost: one residual mass per draft.
// Source: frame and scores derived here (docs/paths.md); proved by enumeration.
// Correctness: S(u) p(y|u) - E[S(uy) | layers down to u] = B l c (p - b q)+(y) / F(b) is never negative, and is the
// mass that the sweep emits at u.
#pragma once

#include <vector>

#include <draftproof/sim/info.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>
#include <draftproof/verifiers/transport/transport_plan.hpp>

namespace draftproof::verifiers::paths {

struct LayerwiseRejection {
  static constexpr Info info{
      .name = "layerwise_rejection",
      .summary = "verify a tree layer by layer; recursive rejection divides scores among the children",
      .source = "derived here",
      .drafts = DraftSamplings{"iid_paths", "delayed_paths"},
      .claims = {.accepts_equal_distributions = true, .one_path_is_block = true},
      .unsupported = {.device = "it keeps a score for every node of the tree"}};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    using Scalar = typename L::Scalar;
    const DraftTree& tree = at.tree();
    const Scalar zero = at.distributions(DraftTree::root).zero(), one = at.distributions(DraftTree::root).one();
    std::vector<Node<Scalar>> nodes(static_cast<std::size_t>(tree.size()), Node<Scalar>{zero, zero, zero, zero});
    nodes.front().score = one;
    Scalar total = one;
    int depth = 0;
    while (depth < tree.length() && total > zero) total = score_layer(at, depth++, total, nodes);
    if (random.flip(total, one)) {
      IndexWeights<Scalar> scores;
      for_each_in_layer(tree, depth, nodes, [&](int u, const Node<Scalar>& node) { scores.add(u, node.score); });
      const int u = random.pick(scores);
      return {u, random.emit(at.distributions(u).residual(zero))};
    }
    for (;;) {
      IndexWeights<Scalar> stops;
      Scalar stop = zero, refused = zero;
      for_each_in_layer(tree, --depth, nodes, [&](int u, const Node<Scalar>& node) {
        stops.add(u, node.stop);
        stop += node.stop;
        refused += node.refused;
      });
      if (depth > 0 && !random.flip(stop, refused)) continue;
      const int u = depth > 0 ? random.pick(stops) : DraftTree::root;
      return {u, random.emit(at.distributions(u).residual(nodes[static_cast<std::size_t>(u)].b))};
    }
  }

 private:
  template <class Scalar>
  struct Node {
    Scalar score, refused, stop, b;  ///< S, B l, B l c and b after the last draft
  };

  template <class Scalar, class Visit>
  static void for_each_in_layer(const DraftTree& tree, int depth, std::vector<Node<Scalar>>& nodes, Visit visit) {
    for (int u = 0; u < tree.size(); ++u)
      if (Node<Scalar>& node = nodes[static_cast<std::size_t>(u)]; tree.depth(u) == depth && node.score > Scalar{0})
        visit(u, node);
  }

  /// Computes the scores of the layer below `depth`; `total` is the sum of the scores at `depth`. Returns the sum of
  /// the computed scores.
  template <class L, class Scalar>
  static Scalar score_layer(const DraftedTree<L>& at, int depth, const Scalar& total,
                            std::vector<Node<Scalar>>& nodes) {
    Scalar sum{0}, refused{0};
    for_each_in_layer(at.tree(), depth, nodes, [&](int u, Node<Scalar>& node) {
      sum += score_children(at, u, total, nodes, node);
      refused += node.refused;
    });
    // If nothing is refused the scores sum to 1 exactly; their rounded sum may not.
    return refused > Scalar{0} && sum < Scalar{1} ? sum : Scalar{1};
  }

  template <class L, class Scalar>
  static Scalar score_children(const DraftedTree<L>& at, int u, const Scalar& total, std::vector<Node<Scalar>>& nodes,
                               Node<Scalar>& node) {
    const L& distributions = at.distributions(u);
    const Scalar zero = distributions.zero(), one = distributions.one(), share = node.score / total;
    Scalar left = share, c = total, mass = one, sum = zero;
    node.refused = share;
    for (const int child : at.tree().draws(u)) {
      const Token x = at.tree().token(child);
      const Scalar num = c * (distributions.target(x) - node.b * distributions.proposal(x)),
                   den = mass * distributions.proposal(x);
      if (num > zero) {
        const Scalar score = num < den ? Scalar(left * (num / den)) : left;
        nodes[static_cast<std::size_t>(child)].score += score;
        sum += score;
        left = num < den ? Scalar(left * ((den - num) / den)) : zero;
      }
      const Scalar b = node.b + mass / c, next = distributions.residual_mass(b);
      const Scalar served = c * (next / mass), average = (one - c) + served;
      node.refused *= average;
      if (!(next > zero)) {  // residual 0: further drafts are never accepted
        c = zero;
        break;
      }
      c = served / average;
      node.b = b;
      mass = next;
    }
    node.stop = node.refused * c;
    return sum;
  }
};

}  // namespace draftproof::verifiers::paths
