// Mutant: token verification with one accept uniform for the whole path: the generator restarts at every position.
//
//   u        one uniform  token i is accepted while u < p / q; the least ratio so far decides
//
// Source: feifeibear/LLMSpeculativeSampling, reading of the source.
// Error: every single position has the right law, their joint law is wrong: an acceptance makes the next one
// likelier.
// Hidden: in the first token, and at L = 1.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/block/block_rule.hpp>

namespace draftproof::mutants::paths {

struct OneCoinForAllPositions {
  static constexpr Info info{.name = "one_coin_for_all_positions",
                             .summary = "token verification that reuses one accept coin along the path",
                             .source = "feifeibear/LLMSpeculativeSampling, reading of the source",
                             .drafts = DraftLaws{"iid_paths"},
                             .most_drafts = 1,
                             .derived_from = "token_path"};

  /// One uniform against many ratios as flips: given that u < the least ratio so far, u < ratio with their quotient.
  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    using Scalar = typename L::Scalar;
    const PlainSteps<L> steps(at);
    Scalar least = steps.one();
    for (int i = 0; i < steps.length(); ++i) {
      const Scalar ratio = steps.target(i) / steps.proposal(i);
      if (!random.flip(ratio, least))
        return {steps.node(i), last_draw(steps.laws(i), random, steps.correction(i, steps.one()))};
      if (ratio < least) least = ratio;
    }
    return {steps.node(steps.length()), random.emit(steps.bonus())};
  }
};

}  // namespace draftproof::mutants::paths
