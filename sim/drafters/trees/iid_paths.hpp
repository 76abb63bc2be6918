// K independent paths of L tokens, each token drawn from the proposal after the tokens before it. K = 1 is a chain.
#pragma once

#include <draftproof/sim/trees/tree_drafter.hpp>

namespace draftproof::tree_drafters {

struct IidPaths {
  static constexpr TreeDrafterInfo info{.name = "iid_paths",
                                        .summary = "K independent paths of L tokens",
                                        .siblings = DraftLaws{"iid"},
                                        // Distinct values of an i.i.d. stream in order of first appearance are draws
                                        // without replacement, but their number depends on them.
                                        .siblings_in_turn = DraftLaws{"without_replacement"},
                                        .independent_paths = true};

  /// Adds K paths of L tokens to `out`.
  template <class L, class R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    for (int k = 0; k < shape.drafts; ++k) draw_path(conditionals, DraftTree::root, shape.length, random, out);
  }
};

}  // namespace draftproof::tree_drafters
