// Block verification: accepts the largest prefix of the path whose test on the product of ratios succeeds
// (verifiers/paths/block/block_rule.hpp). No lossless rule that reads one path once accepts more tokens on average.
//
// Cost: one residual mass per position, one draw.
// Source: Sun et al. 2025, arXiv:2403.10444.
// Correctness: a(x), the mass accepted at x or below, is the largest with a(x) <= q(x) and a(xy) <= a(x) p(y|x),
// which every lossless rule obeys.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/block/block_rule.hpp>

namespace draftproof::verifiers::paths {

struct Block {
  static constexpr Info info{.name = "block",
                             .summary = "accept the longest prefix of one path whose joint test succeeds",
                             .source = "Sun et al. 2025, arXiv:2403.10444",
                             .drafts = DraftSamplings{"iid_paths"},
                             .most_drafts = 1,
                             .claims = {.accepts_equal_distributions = true, .one_path_is_block = true}};

  template <class L, class R>
  DRAFTPROOF_DEVICE StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return verify_block(PlainSteps<L>(at), random);
  }
};

}  // namespace draftproof::verifiers::paths
