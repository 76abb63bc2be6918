// Wrong drafters of paths: the tokens are not drawn from the declared rows. `Hidden` says where a bug does not show.
#pragma once

#include <draftproof/sim/drafters/trees/paths.hpp>
#include <draftproof/sim/trees/tree_drafter.hpp>

namespace draftproof::mutants::tree_drafters {

// Wrong drafter of trees: draws all tokens of a path from the row at its root, like a drafter that proposes L tokens in
// one pass and stores rows for one position. The tokens are declared as draws of the proposal after each prefix.
//
// Source: derived here.
// Hidden: in models without context, and in paths of one token.
struct PathOfFirstRow {
  static constexpr TreeDrafterInfo info{.name = "path_of_first_row",
                                        .summary = "every token of a path from the row at the root",
                                        .siblings = DraftSamplings{"iid"},
                                        .declared_as = "iid_paths",
                                        .wrong = true};

  template <class L, class R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    for (int k = 0; k < shape.drafts; ++k)
      for (int u = DraftTree::root, depth = 0; depth < shape.length; ++depth) {
        const Token x = random.pick(conditionals.distributions(out.context(DraftTree::root)).row(0));
        u = out.draw(u, x, conditionals.next(out.context(u), x));
      }
  }
};

// Wrong drafter of trees: drafts come from a cache keyed by the last token, and the verifier gets the proposal after
// the whole prefix.
//
// Source: derived here, after engines that draft from a cache but verify with the logits of a new forward pass.
// Hidden: where the proposal depends on the last token alone, and in paths of one token.
struct TokenCacheUndeclared : draftproof::tree_drafters::TokenCachePaths {
  static constexpr TreeDrafterInfo info{
      .name = "token_cache_undeclared",
      .summary = "paths from a cache keyed by the last token, declared as the proposal's",
      .siblings = DraftSamplings{"iid"},
      .declared_as = "iid_paths",
      .wrong = true};
};

}  // namespace draftproof::mutants::tree_drafters
