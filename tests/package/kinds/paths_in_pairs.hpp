// A user-defined tree sampling: K independent paths, as in `iid_paths`.
#pragma once

#include <draftproof/sim/trees/tree_drafter.hpp>

namespace mine {

using namespace draftproof;

struct PathsInPairs {
  static constexpr TreeDrafterInfo info{.name = "paths_in_pairs",
                                        .summary = "K independent paths",
                                        .siblings = DraftSamplings{"iid"},
                                        .independent_paths = true};

  template <class L, class R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    for (int k = 0; k < shape.drafts; ++k) draw_path(conditionals, DraftTree::root, shape.length, random, out);
  }
};

}  // namespace mine
