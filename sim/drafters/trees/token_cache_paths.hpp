// K independent paths of L tokens from a draft cache: after a token the drafts come from the row that the cache keeps
// for that token, whatever came before it. The drafter declares that row, so verification against it is right.
//
// Correctness: a verifier is lossless for any proposal, if its tests use the row that was sampled. A cache that is
// not declared is the mutant token_cache_undeclared.
// Source: derived here, after n-gram and prompt-lookup caches of engines.
#pragma once

#include <draftproof/sim/trees/tree_drafter.hpp>

namespace draftproof::tree_drafters {

struct TokenCachePaths {
  static constexpr TreeDrafterInfo info{
      .name = "token_cache_paths",
      .summary = "K independent paths of L tokens from a cache keyed by the last token",
      .siblings = DraftLaws{"iid"},
      .siblings_sequential = DraftLaws{"without_replacement"},
      .row = DraftRow::last_token,
      .declared_as = "iid_paths"};

  /// Adds K paths of L tokens to `out`.
  template <class L, class R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    for (int k = 0; k < shape.drafts; ++k)
      for (int u = DraftTree::root, depth = 0; depth < shape.length; ++depth) {
        const Token x = random.pick(conditionals.laws(last_token_context(conditionals, out, u)).row(0));
        u = out.draw(u, x, conditionals.next(out.context(u), x));
      }
  }
};

}  // namespace draftproof::tree_drafters
