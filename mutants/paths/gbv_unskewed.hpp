// Mutant: verifies the greatest of K paths as a block drawn from q.
//
// Source: mutant of arXiv:2602.16961.
// Error: the greatest of K paths is not a draw of q.
// Hidden: at K = 1.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/greatest/greatest_path.hpp>

namespace draftproof::mutants::paths {

struct GbvUnskewed {
  static constexpr Info info{.name = "gbv_unskewed",
                             .summary = "the greatest of K paths verified as a block of q",
                             .source = "mutant of greedy multi-path block verification, arXiv:2602.16961",
                             .drafts = DraftLaws{"iid_paths"},
                             .derived_from = "greedy_multipath_block"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    const GreatestPath<L> greatest(at, DraftTree::root);
    PlainSteps<L> steps(at, DraftTree::root);
    for (int i = 1; i <= greatest.length(); ++i) steps.append(greatest.node(i));
    return verify_block(steps, random);
  }
};

}  // namespace draftproof::mutants::paths
