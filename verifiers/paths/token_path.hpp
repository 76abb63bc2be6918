// Token verification along one path: tests the tokens in turn, each as a single draft; the first refused one is
// corrected.
//
//   p, q     at.distributions(u)      target and proposal after node u
//
// Cost: one flip per token, one residual.
// Source: Leviathan et al. 2023, arXiv:2211.17192, algorithm 1; Chen et al. 2023, arXiv:2302.01318, algorithm 2.
// Correctness: single-draft sampling is lossless at each position.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/block/block_rule.hpp>

namespace draftproof::verifiers::paths {

struct TokenPath {
  static constexpr Info info{.name = "token_path",
                             .summary = "accept the tokens of one path in turn, each as a single draft",
                             .source = "Leviathan et al. 2023, arXiv:2211.17192; Chen et al. 2023, arXiv:2302.01318",
                             .drafts = DraftSamplings{"iid_paths"},
                             .most_drafts = 1,
                             .claims = {.accepts_equal_distributions = true, .one_path_is_token_path = true}};

  template <class L, class R>
  DRAFTPROOF_DEVICE StepOutput verify(const DraftedTree<L>& at, R& random) const {
    const PlainSteps<L> steps(at);
    for (int i = 0; i < steps.length(); ++i)
      if (!random.flip(steps.target(i), steps.proposal(i)))
        return {steps.node(i), last_draw(steps.distributions(i), random, steps.correction(i, steps.one()))};
    return {steps.node(steps.length()), random.emit(steps.bonus())};
  }
};

}  // namespace draftproof::verifiers::paths
