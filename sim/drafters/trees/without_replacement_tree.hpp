// A tree whose nodes draw their children one after the other without replacement, in draw order, level by level.
// Where the support of q runs out, a node has fewer children.
//
// Source: Chen et al. 2024 (Sequoia), arXiv:2402.12374; Li et al. 2024 (EAGLE), arXiv:2401.15077.
#pragma once

#include <algorithm>

#include <draftproof/sim/trees/tree_drafter.hpp>

namespace draftproof::tree_drafters {

struct WithoutReplacementTree {
  static constexpr TreeDrafterInfo info{.name = "without_replacement_tree",
                                        .summary = "children of every node drawn without replacement",
                                        .siblings = DraftLaws{"without_replacement"},
                                        .distinct_siblings = true,
                                        .branches = true};

  /// Adds the children of every node above depth L to `out`.
  template <class L, class R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    for (int u = 0; u < out.size(); ++u) {  // nodes are appended level by level
      if (out.depth(u) == shape.length) break;
      const int context = out.context(u);
      const L& laws = conditionals.laws(context);
      Token seen[max_drafts];
      const int wanted = std::min(shape.children_at(out.depth(u)), max_drafts);
      for (int k = 0; k < wanted && laws.mass_without(0, seen, k) > laws.zero(); ++k) {
        seen[k] = random.pick(laws.row_without(0, seen, k));
        out.draw(u, seen[k], conditionals.next(context, seen[k]));
      }
    }
  }
};

}  // namespace draftproof::tree_drafters
