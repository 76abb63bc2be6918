// Fixed first tokens with one drawn suffix: the K most probable first tokens, and one path below the most probable of
// them, which is repeated below the others. A target pass then serves K prefixes for the draws of one chain.
//
// Cost: one chain of L tokens.
// Source: an unreviewed note on root-marginalised block verification; the tree is reconstructed from its rule.
#pragma once

#include <algorithm>

#include <draftproof/sim/trees/fixed_tokens.hpp>
#include <draftproof/sim/trees/tree_drafter.hpp>

namespace draftproof::tree_drafters {

struct SharedSuffix {
  static constexpr TreeDrafterInfo info{
      .name = "shared_suffix",
      .summary =
          "the K most probable first tokens, and below each the same path, drawn after the most probable of them",
      .ranks_tokens = true,
      .shared_suffix = true};

  /// Adds the first tokens and the path below each to `out`.
  template <class L, class R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    const int context = out.context(DraftTree::root);
    const FixedTokens first(conditionals.distributions(context), std::min(shape.drafts, max_drafts));
    for (int k = 0; k < first.count; ++k)
      out.draw(DraftTree::root, first.tokens[k], conditionals.next(context, first.tokens[k]));
    const int drawn = 1;  // node of the most probable first token
    draw_path(conditionals, drawn, shape.length - 1, random, out);
    for (int k = 1; k < first.count; ++k)
      for (int from = drawn, u = 1 + k; !out.leaf(from);) {
        from = *out.children(from).begin();
        u = out.draw(u, out.token(from), conditionals.next(out.context(u), out.token(from)));
      }
  }
};

}  // namespace draftproof::tree_drafters
