// Mutant: hierarchical speculative decoding capped at the last index where the ratio of the token and the product
// both exceed 1, not at the largest product so far.
//
//   R_i      product        of p / q over i tokens
//   g_i      capped[i]      product since the last index i or earlier with p / q > 1 and R > 1, at most 1
//
// Source: wording of appendix C.3 of arXiv:2601.05724.
// Error: a later, smaller peak restarts the product.
// Hidden: up to L = 3, where it equals block verification.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/block/block_rule.hpp>

namespace draftproof::mutants::paths {

struct HsdLastIndex {
  static constexpr Info info{.name = "hsd_last_index",
                             .summary = "block verification with the product capped at the last peak",
                             .source = "wording of arXiv:2601.05724, appendix C.3",
                             .drafts = DraftLaws{"iid_paths"},
                             .most_drafts = 1,
                             .derived_from = "block"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    using Scalar = typename L::Scalar;
    const PlainSteps<L> steps(at);
    const Scalar one = steps.one();
    Scalar capped[max_path_length + 1], product = one, last = one;
    capped[0] = one;
    for (int i = 0; i < steps.length(); ++i) {
      const Scalar ratio = steps.target(i) / steps.proposal(i);
      product *= ratio;
      last = capped[i] * ratio;  // the index itself does not cap its own test
      capped[i + 1] = ratio > one && product > one ? one : last;
    }
    const int length = steps.length();
    if (random.flip(last, one)) return {steps.node(length), random.emit(steps.bonus())};
    return verify_above_end(steps, capped, random);
  }
};

}  // namespace draftproof::mutants::paths
