// Mutant: block verification that corrects with the residual of token verification, (p - q)+ in place of (c p - q)+.
//
//   c_i      clipped[i]     clipped product of ratios after i tokens (verifiers/paths/block/block_rule.hpp)
//
// Source: vllm-project/vllm-ascend#7807.
// Error: wrong wherever a correction follows c < 1.
// Hidden: in the number of accepted tokens and the first token; at V = 2, where both residuals are one token, and at
// L = 1.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/block/block_rule.hpp>

namespace draftproof::mutants::paths {

struct BlockTokenResidual {
  static constexpr Info info{.name = "block_token_residual",
                             .summary = "block verification corrected with (p - q)+",
                             .source = "slip reported as vllm-project/vllm-ascend#7807",
                             .drafts = DraftLaws{"iid_paths"},
                             .most_drafts = 1,
                             .derived_from = "block"};

  template <class L>
  struct Steps : PlainSteps<L> {
    using Scalar = typename L::Scalar;
    using PlainSteps<L>::PlainSteps;
    auto correction(int i, const Scalar&) const { return PlainSteps<L>::correction(i, this->one()); }
  };

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return verify_block(Steps<L>(at), random);
  }
};

}  // namespace draftproof::mutants::paths
