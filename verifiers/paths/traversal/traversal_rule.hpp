// Traversal verification of a drafted tree: tests leaves before their parents; after its children are refused, a parent
// is tested as a leaf, with the residual that is left. Instead of changed rows, nodes store four scalars.
//
//   b            node.b        current target row after u is (p - b q)+ / F(b); b = 0 while no child of u was refused
//   F            node.mass     F(b)
//   m            node.unseen   q-mass outside the refused children
//   w            node.weight   probability that u or a node below it is accepted; 1 at the root
//   w_c          entered       min(1, w m (p(c) - b q(c)) / (F q(c))) for child c of u
//   c refused    refuse        b' = b + F / (w m), w' = w F' / (w F' + (1 - w) F), m' = m - q(c)
//
// Cost: at most one residual mass per node.
// Source: Weng et al. 2025, arXiv:2505.12398, from leaf to root; the scalar form is derived here (docs/paths.md) and
// proved by enumeration against full rows (tests/paths).
// Correctness: requires that the children of a node are draws of one row without replacement, in draw order. Merged
// paths, in order of first appearance, satisfy this.
#pragma once

#include <cassert>
#include <utility>

#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof {

/// Draw order. An `Order` is a function (at, u) -> children of u in the order of their tests.
struct DrawOrder {
  template <class L>
  DRAFTPROOF_DEVICE auto operator()(const DraftedTree<L>& at, int u) const {
    return at.tree().children(u);
  }
};

template <class L, class R, class Order = DrawOrder>
class TraversalRun {
 public:
  using Scalar = typename L::Scalar;

  DRAFTPROOF_DEVICE TraversalRun(const DraftedTree<L>& at, R& random, Order order = {})
      : at_{at}, random_{random}, order_{order} {}

  /// Makes one step; returns the accepted node and the extra token.
  DRAFTPROOF_DEVICE StepOutput run() {
    const Scalar one = at_.distributions(DraftTree::root).one();
    enter(DraftTree::root, one);
    for (;;) {
      Node& u = path_.back();
      if (const Children& children = u.children; !(u.next == children.end())) {
        const Scalar weight = entered(u, at_.tree().token(*u.next));
        // No node below a node of weight 0 is ever accepted.
        if (weight > at_.distributions(u.node).zero())
          enter(*u.next, weight);
        else
          refuse(u);
      } else if (u.node == DraftTree::root || random_.flip(u.weight, one)) {
        return {u.node, random_.emit(at_.distributions(u.node).residual(u.b))};
      } else {
        path_.pop_back();
        refuse(path_.back());
      }
    }
  }

 private:
  using Children = decltype(std::declval<const Order&>()(std::declval<const DraftedTree<L>&>(), 0));
  using Next = decltype(std::declval<const Children&>().begin());

  struct Node {
    int node;
    Scalar b, mass, unseen, weight;
    Children children;
    Next next;    ///< the child under test
    int refused;  ///< number of children before `next`
  };

  DRAFTPROOF_DEVICE void enter(int u, const Scalar& weight) {
    const L& distributions = at_.distributions(u);
    path_.push_back(
        {u, distributions.zero(), distributions.one(), distributions.one(), weight, order_(at_, u), {}, 0});
    Node& last = path_.back();
    const Children& children = last.children;
    last.next = children.begin();
  }

  DRAFTPROOF_DEVICE Scalar entered(const Node& u, Token c) const {
    const L& distributions = at_.distributions(u.node);
    const Scalar wanted = distributions.target(c) - u.b * distributions.proposal(c);
    if (!(u.weight > distributions.zero()) || !(wanted > distributions.zero())) return distributions.zero();
    const Scalar num = u.weight * u.unseen * wanted, den = u.mass * distributions.proposal(c);
    return num < den ? Scalar(num / den) : distributions.one();
  }

  DRAFTPROOF_DEVICE void refuse(Node& u) {
    const L& distributions = at_.distributions(u.node);
    ++u.refused;
    ++u.next;
    if (!(u.weight > distributions.zero())) return;
    const Scalar b = u.b + u.mass / (u.weight * u.unseen);
    const Scalar mass = distributions.residual_mass(b);
    if (!(mass > distributions.zero())) {
      // The rest of the tree emits all of u's residual, so u is refused with certainty: its weight becomes 0. At
      // weight 1 a refusal is possible only by rounding, and weight, b and F stay as they were.
      if (u.weight < distributions.one()) u.weight = distributions.zero();
      return;
    }
    assert(u.refused <= max_drafts);
    Token seen[max_drafts];
    int count = 0;
    const Children& children = u.children;
    for (Next child = children.begin(); count < u.refused; ++child) seen[count++] = at_.tree().token(*child);
    // The weight becomes w F' / (w F' + (1 - w) F). At w = 1 numerator and denominator are the same number, so the
    // weight stays exactly 1.
    const Scalar served = u.weight * mass;
    u.weight = served / (served + (distributions.one() - u.weight) * u.mass);
    u.unseen = distributions.mass_without(0, seen, count);
    u.b = b;
    u.mass = mass;
  }

  const DraftedTree<L>& at_;
  R& random_;
  Order order_;
  ListAt<L, Node, max_path_length + 1>
      path_;  ///< from the root to the present node; nodes outside it are untouched or refused
};

}  // namespace draftproof
