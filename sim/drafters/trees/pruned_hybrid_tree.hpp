// A hybrid tree of which only the N nodes with the largest scores are drafted. Scores are computed before any token is
// drawn, so they read no drawn token, and whether a node is kept does not depend on one.
//
//   r(u)        row of q at the deepest node above u, or u itself, without a drawn token on its path
//   score       1 at the root
//   fixed k     score of its parent u times the k-th largest entry of r(u)
//   drawn       score of its parent u times the mass of r(u) without the F largest entries, divided by the number of
//               drawn children of u
//
// Among nodes with equal scores, nodes nearer to the root come first, and fixed children before drawn children.
//
// Cost: for each of N + 1 nodes the F largest entries of a row and a scan of all candidates, besides the draws of the
// kept nodes.
// Correctness: given the tokens above a node, its kept children are its first children in a hybrid tree, and how many
// children of either kind are kept is a function of the context. A pruning by the probabilities of drawn tokens would
// make the kept drafts depend on their values, so they would not have the declared distribution.
// Source: pruning by scores that read no drawn token: RheoSampling, arXiv:2609.21827, whose text was not available;
// these scores are derived here.
#pragma once

#include <algorithm>
#include <vector>

#include <draftproof/sim/drafters/trees/trees.hpp>

namespace draftproof::tree_drafters {

struct PrunedHybridTree {
  static constexpr TreeDrafterInfo info{
      .name = "pruned_hybrid_tree",
      .summary = "a hybrid tree without the nodes of the smallest scores, which read no drawn token",
      .distinct_siblings = true,
      .ranks_tokens = true,
      .branches = true,
      .has_fixed_children = true,
      .prunes = true};

  /// Adds the kept children of every node above depth L to `out`, the fixed ones first.
  template <class L, class R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    const std::vector<Kept<typename L::Scalar>> kept = keep(conditionals, shape, out.context(DraftTree::root));
    std::vector<int> plan_of{0};            // index in `kept` of each node of the tree
    for (int u = 0; u < out.size(); ++u) {  // nodes are appended level by level
      const auto& at = kept[static_cast<std::size_t>(plan_of[static_cast<std::size_t>(u)])];
      if (at.fixed.empty() && at.drawn.empty()) continue;
      const int context = out.context(u);
      FixedTokens seen(conditionals.distributions(context), fixed_at(shape, out.depth(u)));
      for (std::size_t k = 0; k < at.fixed.size() && static_cast<int>(k) < seen.count; ++k) {
        out.draw(u, seen.tokens[k], conditionals.next(context, seen.tokens[k]));
        plan_of.push_back(at.fixed[k]);
      }
      const int before = out.size();
      detail::draw_distinct(conditionals, u, seen.count + static_cast<int>(at.drawn.size()), seen.tokens, seen.count,
                            random, out);
      for (int k = 0; k < out.size() - before; ++k) plan_of.push_back(at.drawn[static_cast<std::size_t>(k)]);
    }
  }

 private:
  static constexpr int unknown = -2;  ///< context of a node with a drawn token on its path, which is not drawn yet

  /// A kept node u. `rows` is the context whose proposal is r(u).
  template <class Scalar>
  struct Kept {
    Scalar score;
    int depth, context, rows;
    std::vector<int> fixed{}, drawn{};  ///< kept children in order
  };
  template <class Scalar>
  struct Candidate {
    Kept<Scalar> node;
    int parent;
    bool drawn;
    int order;
  };

  static int children_at(const TreeShape& shape, int depth) { return std::min(shape.children_at(depth), max_drafts); }
  static int fixed_at(const TreeShape& shape, int depth) { return std::min(shape.fixed, children_at(shape, depth)); }

  template <class L>
  static std::vector<Kept<typename L::Scalar>> keep(const ConditionalModel<L>& conditionals, const TreeShape& shape,
                                                    int root) {
    using Scalar = typename L::Scalar;
    std::vector<Kept<Scalar>> kept{{Scalar(1), 0, root, root}};
    std::vector<Candidate<Scalar>> open;
    int order = 0;
    const auto expand = [&](int u) {
      const Kept<Scalar> at = kept[static_cast<std::size_t>(u)];
      if (at.depth == shape.length) return;
      const L& distributions = conditionals.distributions(at.rows);
      const int children = children_at(shape, at.depth);
      const FixedTokens fixed(distributions, fixed_at(shape, at.depth));
      for (int k = 0; k < fixed.count; ++k) {
        const Token x = fixed.tokens[k];
        const int after = at.context == unknown ? unknown : conditionals.next(at.context, x);
        open.push_back({{Scalar(at.score * Scalar(distributions.proposal(x))), at.depth + 1, after,
                         after == unknown ? at.rows : after},
                        u,
                        false,
                        order++});
      }
      const int drawn = children - fixed_at(shape, at.depth);
      if (drawn == 0) return;
      const Scalar rest = distributions.mass_without(0, fixed.tokens, fixed.count);
      if (!(rest > distributions.zero())) return;
      for (int k = 0; k < drawn; ++k)
        open.push_back({{Scalar(at.score * rest / Scalar(drawn)), at.depth + 1, unknown, at.rows}, u, true, order++});
    };
    expand(0);
    while ((shape.nodes == 0 || static_cast<int>(kept.size()) <= shape.nodes) && !open.empty()) {
      const auto best = std::min_element(open.begin(), open.end(), [](const auto& a, const auto& b) {
        if (a.node.score != b.node.score) return a.node.score > b.node.score;
        return a.node.depth != b.node.depth ? a.node.depth < b.node.depth : a.order < b.order;
      });
      const Candidate<Scalar> taken = *best;
      open.erase(best);
      const int number = static_cast<int>(kept.size());
      auto& parent = kept[static_cast<std::size_t>(taken.parent)];
      (taken.drawn ? parent.drawn : parent.fixed).push_back(number);
      kept.push_back(taken.node);
      expand(number);
    }
    return kept;
  }
};

}  // namespace draftproof::tree_drafters
