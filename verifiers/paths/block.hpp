// Block verification: the path is accepted up to the largest prefix whose test on the product of ratios succeeds
// (verifiers/paths/block/block_rule.hpp). No lossless rule that sees one path once accepts more tokens on average.
//
// Cost: one residual mass a position, one draw. Source: Sun et al. 2025, arXiv:2403.10444.
// Exact and optimal because a(x), the mass that is accepted at x or below, is the largest with a(x) <= q(x) and
// a(xy) <= a(x) p(y|x), which every lossless rule obeys.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/block/block_rule.hpp>

namespace draftproof::verifiers::paths {

struct Block {
  static constexpr Info info{.name = "block",
                             .summary = "accept the longest prefix of one path whose joint test succeeds",
                             .source = "Sun et al. 2025, arXiv:2403.10444",
                             .drafts = DraftLaws{"iid_paths"},
                             .most_drafts = 1,
                             .claims = {.accepts_equal_laws = true, .one_path_is_block = true}};

  template <class L, class R>
  DRAFTPROOF_DEVICE StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return verify_block(PlainSteps<L>(at), random);
  }
};

}  // namespace draftproof::verifiers::paths
