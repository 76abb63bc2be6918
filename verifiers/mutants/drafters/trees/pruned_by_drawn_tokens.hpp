// Wrong drafter of trees: the children of kept nodes are drawn, and the N nodes with the largest products of q are kept,
// so the pruning reads drawn tokens.
#pragma once

#include <algorithm>
#include <vector>

#include <draftproof/sim/drafters/trees/trees.hpp>

namespace draftproof::mutants::tree_drafters {

// Source: trees whose nodes are ranked again by the probabilities of their tokens (EAGLE-2, arXiv:2406.16858), here
// with drawn children.
// Error: a drawn token is kept if q is large, so kept tokens are not draws of the declared rest of q.
// Hidden: where no node is pruned.
struct PrunedByDrawnTokens {
  static constexpr TreeDrafterInfo info{.name = "pruned_by_drawn_tokens",
                                        .summary = "a hybrid tree without the nodes of the smallest products of q",
                                        .distinct_siblings = true,
                                        .ranks_tokens = true,
                                        .branches = true,
                                        .has_fixed_children = true,
                                        .prunes = true,
                                        .declared_as = "pruned_hybrid_tree",
                                        .wrong = true};

  template <class L, class R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    using Scalar = typename L::Scalar;
    struct Candidate {
      Scalar score;
      int parent, context;
      Token token;
    };
    std::vector<Candidate> open;
    const auto expand = [&](int u, const Scalar& score) {
      if (out.depth(u) == shape.length) return;
      TreeShape one = shape;
      one.length = 1;
      one.branching = {std::min(shape.children_at(out.depth(u)), max_drafts)};
      DraftTree children(out.context(u));
      draftproof::tree_drafters::HybridTree{}.draw(conditionals, one, random, children);
      for (const int child : children.children(DraftTree::root)) {
        const Token x = children.token(child);
        open.push_back({Scalar(score * Scalar(conditionals.distributions(out.context(u)).proposal(x))), u,
                        children.context(child), x});
      }
    };
    expand(DraftTree::root, Scalar(1));
    while ((shape.nodes == 0 || out.size() <= shape.nodes) && !open.empty()) {
      const auto best =
          std::max_element(open.begin(), open.end(), [](const auto& a, const auto& b) { return a.score < b.score; });
      const Candidate taken = *best;
      open.erase(best);
      expand(out.draw(taken.parent, taken.token, taken.context), taken.score);
    }
  }
};

}  // namespace draftproof::mutants::tree_drafters
