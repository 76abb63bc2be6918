// Greedy multi-path block verification with re-entry: if the corrected prefix is a node of the tree, the paths
// through it are verified again from there.
//
//   s        start     node of the present run: the root, then corrected prefixes that were drafted
//   K'       draws(s)  paths through s, independent given their number
//
// Cost: a run of greedy multi-path block verification at the root and one for each of at most L re-entries.
// Source: conditions and proof derived here; proved by enumeration.
// Correctness: the choice of a path never reads tokens below the point where two paths part
// (verifiers/paths/greatest/greatest_path.hpp). Given K', the tokens of the paths through s below s are still K'
// draws of q, and each run emits the target's distribution from its start. The correction never lies on the chosen
// path, so it leads to another branch.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/verifiers/paths/greatest/greatest_path.hpp>

namespace draftproof::verifiers::paths {

struct BranchReentry {
  static constexpr Info info{
      .name = "branch_reentry",
      .summary = "greedy multi-path block verification, run again from the correction if it was drafted",
      .source = "derived here",
      .drafts = DraftSamplings{"iid_paths", "delayed_paths"},
      .claims = {.one_path_is_block = true},
      .ranks_tokens = true};

  template <class L, class R>
  DRAFTPROOF_DEVICE StepOutput verify(const DraftedTree<L>& at, R& random) const {
    const auto& tree = at.tree();
    ImmediateEmit<R> immediate(random);
    for (int start = DraftTree::root;;) {
      if (tree.leaf(start))
        return {start, random.emit(at.distributions(start).residual(at.distributions(start).zero()))};
      const StepOutput step = verify_block(GreatestPath<L>(at, start), immediate);
      const int child = step.extra.token < 0 ? -1 : tree.find(step.node, step.extra.token);
      if (child < 0) return step;
      start = child;
    }
  }
};

}  // namespace draftproof::verifiers::paths
