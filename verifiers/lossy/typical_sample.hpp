// Draws the token from p cut to the tokens at or above the entropy threshold; it counts as accepted if it was
// drafted. Lossy by design: exact for the cut distribution, which is not p. The difference does not show if every
// token of p is above the threshold, as on flat targets.
//
//   p        at.target(x)        target probability of token x
//   th       typical_threshold   min(epsilon, delta exp(-H)), H = -sum p log(p + 1e-5)
//
// Cost: a pass for the threshold and one for the cut distribution, then a pass per draw; for many trials the cut
// distribution is kept and a draw bisects it (sim/sampling/weights.hpp).
// Source: the sampling variant of the code of Cai et al. 2024 (Medusa), arXiv:2401.10774.
#pragma once

#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/verifiers/lossy/typical_acceptance.hpp>

namespace draftproof::verifiers::lossy {

struct TypicalSample {
  static constexpr Info info{.name = "typical_sample",
                             .summary = "draw from p restricted to its typical tokens; accepted if drafted",
                             .source = "Cai et al. 2024 (Medusa), arXiv:2401.10774, sampling variant of the code",
                             .drafts = DraftSamplings{"iid"},
                             .promise = Promise::lossy,
                             .derived_from = "sample_and_match"};

  double epsilon = 0.3, delta = 0.6, added = 1e-5;

  /// p cut at the threshold.
  template <class L>
  struct Cut {
    const L& distributions;
    double threshold;
    DRAFTPROOF_DEVICE typename L::Scalar operator()(Token x) const {
      return static_cast<double>(distributions.target(x)) >= threshold ? distributions.target(x)
                                                                       : distributions.zero();
    }
  };

  template <Distributions L>
  DRAFTPROOF_DEVICE auto prepare(const L& distributions, int) const {
    const Cut<L> typical{distributions, typical_threshold(distributions, epsilon, delta, added)};
    // For the entropy H of p, exp(-H) <= max p. With 1e-5 added in the logarithm this can fail: for a distribution that
    // is flat on 50,000 tokens the threshold can exceed every probability, and p is then not cut.
    const bool some = distributions.sum(typical) > distributions.zero();
    return tabulated(distributions, Cut<L>{distributions, some ? typical.threshold : 0.0});
  }

  template <Position P, Weights Plan, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, const Plan& cut, R& random) const {
    return matched(at, random.emit(cut));
  }
};

}  // namespace draftproof::verifiers::lossy
