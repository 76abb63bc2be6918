// Greedy multi-path block verification: verifies the greatest of K paths, compared by p / q token by token, as a
// block drawn from the distribution of the greatest path (verifiers/paths/greatest/greatest_path.hpp). More paths can
// accept fewer tokens, and several can be worse than one path: the choice costs acceptance where p and q agree.
//
// Cost: O(K) per token of the path and O(K log V) per refused test on distributions that rank their tokens; no plan
// is kept between steps. On fresh rows and on a device one pass per token of the path and a few per test
// (verifiers/paths/greatest/bucketed_row.hpp). On fresh rows and on a device tokens are ordered by buckets of p / q and
// then by id, so the distribution of the greatest path telescopes over most buckets, and no token's rank has to be
// stored.
// Source: Thomas and Pal, arXiv:2602.16961.
// Correctness: block verification is lossless for the true distribution of its path. Any strict order of tokens is
// correct if the choice and the distribution use the same order.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/greatest/greatest_path.hpp>

namespace draftproof::verifiers::paths {

struct GreedyMultipathBlock {
  static constexpr Info info{
      .name = "greedy_multipath_block",
      .summary = "block verification of the greatest of K paths, whose distribution takes the place of q",
      .source = "Thomas and Pal, arXiv:2602.16961",
      .drafts = DraftSamplings{"iid_paths", "delayed_paths"},
      .claims = {.one_path_is_block = true},
      .ranks_tokens = true};

  template <class L, class R>
  DRAFTPROOF_DEVICE StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return verify_block(GreatestPath<L>(at, DraftTree::root), random);
  }
};

}  // namespace draftproof::verifiers::paths
