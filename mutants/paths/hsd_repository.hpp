// Mutant: hierarchical speculative decoding as in its repository: block verification whose last test uses the product
// of ratios without a cap.
//
//   R_L      product          of p / q over the whole path
//   c_i      clipped[i]       clipped product after i tokens (verifiers/paths/block/block_rule.hpp)
//
// Source: ZhouYuxuanYX/Hierarchical-Speculative-Decoding; the paper, arXiv:2601.05724, caps it.
// Error: wrong wherever R exceeds 1 before the end and then falls: docs/findings/hsd.md.
// Hidden: in first tokens, which keep their law.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/block/block_rule.hpp>

namespace draftproof::mutants::paths {

struct HsdRepository {
  static constexpr Info info{.name = "hsd_repository",
                             .summary = "block verification with an uncapped product in the last test",
                             .source = "ZhouYuxuanYX/Hierarchical-Speculative-Decoding",
                             .drafts = DraftLaws{"iid_paths"},
                             .most_drafts = 1,
                             .derived_from = "block"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    const PlainSteps<L> steps(at);
    typename L::Scalar clipped[max_path_length + 1];
    clip_products(steps, clipped);
    auto product = steps.one();
    for (int i = 0; i < steps.length(); ++i) product *= steps.target(i) / steps.proposal(i);
    if (random.flip(product, steps.one())) return {steps.node(steps.length()), random.emit(steps.bonus())};
    return verify_above_end(steps, clipped, random);
  }
};

}  // namespace draftproof::mutants::paths
