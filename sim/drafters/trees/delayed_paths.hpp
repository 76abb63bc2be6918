// Delayed expansion: one stem, then K independent paths from its end, of L tokens with the stem. With a stem of L
// tokens the tree is a chain, with an empty stem it is K paths.
//
// Source: arXiv:2602.16994.
#pragma once

#include <algorithm>

#include <draftproof/sim/trees/tree_drafter.hpp>

namespace draftproof::tree_drafters {

struct DelayedPaths {
  static constexpr TreeDrafterInfo info{.name = "delayed_paths",
                                        .summary = "a stem, then K independent paths from its end",
                                        .siblings = DraftLaws{"iid"},
                                        // Distinct values of an i.i.d. stream in order of first appearance are draws
                                        // without replacement, but their number depends on them.
                                        .siblings_in_turn = DraftLaws{"without_replacement"},
                                        .has_stem = true};

  /// Adds the stem and the paths to `out`.
  template <class L, class R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    const int stem = std::min(shape.stem, shape.length);
    const int end = draw_path(conditionals, DraftTree::root, stem, random, out);
    if (stem == shape.length) return;
    for (int k = 0; k < shape.drafts; ++k) draw_path(conditionals, end, shape.length - stem, random, out);
  }
};

}  // namespace draftproof::tree_drafters
