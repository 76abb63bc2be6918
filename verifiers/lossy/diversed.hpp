// Verifies the draft by the single-draft rule against a mixture of target and proposal, r = w p + (1 - w) q. Lossy by
// design: the output distribution is r, so its distance from p is (1 - w) times the distance of q from p. The
// difference does not show at p = q. Tokens with p = 0 < q are emitted: a filter of p (top-k, top-p) does not hold
// for the output, and the proof and edge tiers report it. No rule with the same acceptance is nearer to p in total
// variation: an output distribution that accepts a exceeds p by at least a - sum min(p, q) on the tokens with q > p.
//
//   w        weight
//   r        w p + (1 - w) q
//
// Cost: one flip; one pass after a refusal.
// Source: Wang et al. 2026 (DIVERSED), arXiv:2604.07622, where a network chooses w at every position; the fixed weight
// here is the static ensemble of the paper, and `assistant_ensemble_weight` of transformers PR 45979.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::verifiers::lossy {

struct Diversed {
  static constexpr Info info{.name = "diversed",
                             .summary = "the single-draft rule for the target w p + (1 - w) q",
                             .source = "Wang et al. 2026 (DIVERSED), arXiv:2604.07622, fixed weight",
                             .drafts = DraftSamplings{"iid"},
                             .promise = Promise::lossy,
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  double weight = 0.75;

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    using Scalar = typename P::Scalar;
    const Token x = at.draft(0);
    const Scalar w(weight), q = at.proposal(x);
    if (random.flip(w * at.target(x) + (at.one() - w) * q, q)) return accepted(x, 0);
    // (r - q)+ is w times (p - q)+.
    return last_draw(at, random, at.residual(at.one()));
  }
};

}  // namespace draftproof::verifiers::lossy
