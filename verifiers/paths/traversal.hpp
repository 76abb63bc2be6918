// Traversal verification: tests a tree from its leaves to its root, each path against the residual of the paths
// before it (verifiers/paths/traversal/traversal_rule.hpp). On a chain it is block verification, on a tree of depth 1
// recursive rejection without replacement.
//
// Cost: at most one residual mass per node, one draw.
// Source: Weng et al. 2025, arXiv:2505.12398.
// Correctness: requires siblings that are draws of one row without replacement, in draw order.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/traversal/traversal_rule.hpp>

namespace draftproof::verifiers::paths {

struct Traversal {
  static constexpr Info info{
      .name = "traversal",
      .summary = "verify a tree from the leaves to the root; rejected probability goes to the parent",
      .source = "Weng et al. 2025, arXiv:2505.12398",
      .drafts = DraftSamplings{"without_replacement_tree", "iid_paths", "delayed_paths"},
      .claims = {.accepts_equal_distributions = true, .one_path_is_block = true}};

  template <class L, class R>
  DRAFTPROOF_DEVICE StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return TraversalRun<L, R>(at, random).run();
  }
};

}  // namespace draftproof::verifiers::paths
