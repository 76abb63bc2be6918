// Reuses the tokens of an old rollout: accepts a draft with probability min(1, l p / q) and draws the token from p
// after a refusal, not from the residual. Lossy by design, also for l = 1, where the output is min(p, q) + (1 - a) p
// with a = sum min(p, q). The difference does not show at p = q with l >= 1.
//
//   p        policy that is trained
//   q        policy that made the rollout
//   l        lenience
//
// Cost: one flip; one draw after a refusal.
// Source: SPEC-RL, code of ShopeeLLM/Spec-RL, `spec_cut_with_knobs` in verl/utils/speculative_decoding.py: the prefix
// until the first refusal is kept and continued by generation from p. The scripts of SPEC-RL use l = exp(1/2).
#pragma once

#include <draftproof/sim/verifier.hpp>

namespace draftproof::verifiers::lossy {

struct SpecRl {
  static constexpr Info info{.name = "spec_rl",
                             .summary = "accept with min(1, l p / q), draw from p after a refusal",
                             .source = "SPEC-RL, ShopeeLLM/Spec-RL, spec_cut_with_knobs",
                             .drafts = DraftSamplings{"iid"},
                             .promise = Promise::lossy,
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  double lenience = 1.64872127070012815;  // exp(1/2)

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(typename P::Scalar(lenience) * at.target(x), at.proposal(x))) return accepted(x, 0);
    return random.emit(at.residual(at.zero()));
  }
};

}  // namespace draftproof::verifiers::lossy
