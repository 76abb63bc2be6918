// A drafter of trees with fixed and drawn children.
#pragma once

#include <algorithm>

#include <draftproof/sim/trees/fixed_tokens.hpp>
#include <draftproof/sim/trees/tree_drafter.hpp>

namespace draftproof::tree_drafters {

// A hybrid tree: the children of a node are the F most probable tokens of q, then drafts drawn without replacement
// from the rest of q, level by level. The shape says the number of all children of a node, and F. A node has fewer
// fixed children if q has fewer tokens, and fewer drawn ones if the rest has fewer.
//
// Source: trees that engines draft; named hybrid by arXiv:2605.04543.
struct HybridTree {
  static constexpr TreeDrafterInfo info{
      .name = "hybrid_tree",
      .summary = "children of every node: the most probable tokens, then draws without replacement from the rest",
      .distinct_siblings = true,
      .ranks_tokens = true,
      .branches = true,
      .has_fixed_children = true};

  /// Adds the children of every node above depth L to `out`, the fixed ones first.
  template <class L, class R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    for (int u = 0; u < out.size(); ++u) {  // nodes are appended level by level
      if (out.depth(u) == shape.length) break;
      const int context = out.context(u);
      const L& distributions = conditionals.distributions(context);
      const int wanted = std::min(shape.children_at(out.depth(u)), max_drafts);
      FixedTokens seen(distributions, std::min(shape.fixed, wanted));
      for (int k = 0; k < seen.count; ++k) out.draw(u, seen.tokens[k], conditionals.next(context, seen.tokens[k]));
      for (int drawn = std::min(shape.fixed, wanted); drawn < wanted; ++drawn) {
        if (!(distributions.mass_without(0, seen.tokens, seen.count) > distributions.zero())) break;
        const Token x = random.pick(distributions.row_without(0, seen.tokens, seen.count));
        seen.tokens[seen.count++] = x;
        out.draw(u, x, conditionals.next(context, x));
      }
    }
  }
};

}  // namespace draftproof::tree_drafters
