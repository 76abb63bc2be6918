// Recursive rejection: tests the drafts in turn against a residual (p - b q)+. Each rejection raises b to b + F(b).
//
//   p        at.target(x)            target probability of token x
//   q        at.proposal(x)          probability with which each draft was drawn
//   b        b                       parameter of the residual (p - b q)+; 0 is the target itself
//   F(b)     at.residual_mass(b)     sum over the vocabulary of (p - b q)+
//
// Cost: K flips, one residual mass per refusal.
// Acceptance: 1 - F(b_K) with b_0 = 0, b_(k+1) = b_k + F(b_k).
// Source: multi-step speculative sampling of Miao et al. 2023 (SpecInfer), arXiv:2305.09781, algorithm 2.
// Correctness: after a refusal at b, the mass that remains to be emitted is exactly (p - (b + F(b)) q)+.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::verifiers {

struct RecursiveRejection {
  static constexpr Info info{.name = "recursive_rejection",
                             .summary = "test i.i.d. drafts in turn against the shrinking residual",
                             .source = "Miao et al. 2023 (SpecInfer), arXiv:2305.09781, multi-step sampling",
                             .drafts = DraftSamplings{"iid"},
                             .claims = {.accepts_equal_distributions = true,
                                        .one_draft_is_single_draft = true,
                                        .emitted_drafts_are_accepted = true,
                                        .more_drafts_never_hurt = true},
                             .sequential = true};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    auto b = at.zero();
    auto mass = at.one();
    for (int k = 0; k < at.drafts(); ++k) {
      const Token x = at.draft(k);
      if (random.flip(at.target(x) - b * at.proposal(x), mass * at.proposal(x))) return accepted(x, k);
      b += mass;
      mass = at.residual_mass(b);
    }
    return last_draw(at, random, at.residual(b));
  }
};

}  // namespace draftproof::verifiers
