// Takes the most probable of the drafts that pass the entropy threshold, ties to the lower id; if none passes, draws
// the token from p. Lossy by design: with more drafts the most probable token is emitted ever more often.
//
//   p        at.target(x)        target probability of token x
//   th       typical_threshold   min(epsilon, delta exp(-H)), H = -sum p log(p + 1e-5)
//
// Cost: one pass for the threshold; O(K) per trial.
// Source: the default of the code of Cai et al. 2024 (Medusa), arXiv:2401.10774.
#pragma once

#include <draftproof/verifiers/lossy/relaxed_acceptance.hpp>
#include <draftproof/verifiers/lossy/typical_acceptance.hpp>

namespace draftproof::verifiers::lossy {

struct TypicalBest {
  static constexpr Info info{.name = "typical_best",
                             .summary = "take the most probable of the drafts that are typical under p",
                             .source = "Cai et al. 2024 (Medusa), arXiv:2401.10774, default of the code",
                             .drafts = DraftSamplings{"iid"},
                             .promise = Promise::lossy,
                             .ranks_tokens = true,
                             .derived_from = "recursive_rejection"};

  double epsilon = 0.3, delta = 0.09, added = 1e-5;

  template <Distributions L>
  DRAFTPROOF_DEVICE double prepare(const L& distributions, int) const {
    return typical_threshold(distributions, epsilon, delta, added);
  }

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, double threshold, R& random) const {
    int best = none_accepted;
    for (int k = 0; k < at.drafts(); ++k)
      if (static_cast<double>(at.target(at.draft(k))) > threshold &&
          (best < 0 || likelier(at, at.draft(k), at.draft(best))))
        best = k;
    if (best >= 0) return accepted(at.draft(best), best);
    return random.emit(at.residual(at.zero()));
  }
};

}  // namespace draftproof::verifiers::lossy
