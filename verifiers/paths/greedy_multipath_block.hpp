// Greedy multi-path block verification: of K paths the greatest one, by p / q token by token, is verified as a block
// drawn from the law that the greatest path has (verifiers/paths/greatest/greatest_path.hpp).
//
// Cost: O(K) a token of the path and O(K log V) a refused test on laws that rank their tokens, nothing kept between
// steps. On fresh rows and on a device a pass a token of the path and a few a test (verifiers/paths/greatest/bucketed_row.hpp), where
// tokens are ordered by buckets of p / q and then by id: the law that the greatest path has then telescopes over most
// buckets, and no token's place in the order need be kept. Source: Thomas and Pal, arXiv:2602.16961. Exact because
// block verification is, for the true law of its path; any order will do that is strict and the same in the choice
// and in the law. Not monotone in K, and not always better than one path: choosing costs where p and q agree.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/greatest/greatest_path.hpp>

namespace draftproof::verifiers::paths {

struct GreedyMultipathBlock {
  static constexpr Info info{.name = "greedy_multipath_block",
                             .summary = "verify the greatest of K paths as a block of the law it then has",
                             .source = "Thomas and Pal, arXiv:2602.16961",
                             .drafts = DraftLaws{"iid_paths", "delayed_paths"},
                             .claims = {.one_path_is_block = true},
                             .ranks_tokens = true};

  template <class L, class R>
  DRAFTPROOF_DEVICE StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return verify_block(GreatestPath<L>(at, DraftTree::root), random);
  }
};

}  // namespace draftproof::verifiers::paths
