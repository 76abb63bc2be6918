// The ladders of one path's nodes whose children were drawn without replacement, for a team with memory for one plan:
// the last plan stays there, any other is recomputed when block verification returns to its node.
//
//   at(tree, u)          the place of u, whose plan becomes the last one
//   node(at, steps, i)   ladder at token i of the chosen path: the last one, or recomputed
//
// Cost: one plan a node with several children while the path is chosen, none for the first test, one for each further
// test at such a node.
// Correctness: a plan is a function of rows and number of children, so recomputation gives the same bits.
#pragma once

#include <draftproof/sim/trees/conditional_model.hpp>
#include <draftproof/verifiers/ladder/path_node.hpp>

namespace draftproof {

/// One object a thread and output; all threads of a team make the same calls, as those of LadderPaths on a host.
template <class L>
class DistinctPlans {
 public:
  using Node = LadderNode<L>;
  struct Place {
    int children = 0;
  };
  DRAFTPROOF_DEVICE static bool plain(const Place& place) { return place.children < 2; }

  DRAFTPROOF_DEVICE void begin(const DraftedTree<L>&) {}
  // Not inlined: inlined they would spill registers of the loop over nodes.
  [[gnu::noinline]] DRAFTPROOF_DEVICE Place distinct(const DraftedTree<L>& at, int u) {
    const int children = at.tree().draw_count(u);
    if (children > 1) plan(at, u, children);
    return {children};
  }
  /// The node at `place`, which must be the last one or plain.
  DRAFTPROOF_DEVICE const Node& last(const Place& place) const { return plain(place) ? plain_ : last_; }
  template <class R>
  [[gnu::noinline]] DRAFTPROOF_DEVICE auto choose_distinct(const DraftedTree<L>& at, int u, const Place& place,
                                                           R& random) const {
    return last(place).choose_distinct(at.tree(), u, at.laws(u), random);
  }
  /// The ladder at token i of `steps`. Not for plain nodes.
  template <class Steps>
  [[gnu::noinline]] DRAFTPROOF_DEVICE const Node& node(const DraftedTree<L>& at, const Steps& steps, int i) {
    if (last_at_ != steps.node(i)) plan(at, steps.node(i), steps.place(i).children);
    return last_;
  }

 private:
  [[gnu::noinline]] DRAFTPROOF_DEVICE void plan(const DraftedTree<L>& at, int u, int children) {
    const L laws = at.laws(u);
    last_.plan_distinct(laws, children, [&laws](bool coarse) { return ladder_bins(laws, coarse); });
    last_at_ = u;
  }

  const Node plain_{};
  Node last_;
  int last_at_ = -1;  ///< the node of last_
};

}  // namespace draftproof
