// Verification of tail-draw sets: the single-draft rule tests the one random draft with its true distribution; a
// residual draw counts as accepted if it equals any draft.
//
//   y        last draft       drawn from t
//   t        plan.tail(x)     q outside the most probable token, renormalised
//
// Cost: one pass for the plan, one flip and at most one draw per trial.
// Source: reconstruction of RheoSampling's verifier, arXiv:2609.21827, with one fixed token, the most probable;
// losslessness is proved here by enumeration, not checked against the paper.
// Correctness: the scheme is single-draft sampling with proposal t; other drafts are only compared with its token.
#pragma once

#include <draftproof/verifiers/greedy_drafts.hpp>

namespace draftproof::verifiers {

struct TailDraw {
  static constexpr Info info{.name = "tail_draw",
                             .summary =
                                 "test the one random draft against its tail distribution, then match the residual "
                                 "draw with the other drafts",
                             .source = "reconstruction of RheoSampling, arXiv:2609.21827",
                             .drafts = DraftSamplings{"tail_draw"},
                             .fewest_drafts = 2,
                             .claims = {.emitted_drafts_are_accepted = true},
                             .unsupported = {.device = "the plan keeps its residual on the host"}};

  template <Distributions L>
  TailPlan<L> prepare(const L& distributions, int) const {
    return {distributions, 1};
  }
  template <Position P, RandomSource R>
  Verdict verify(const P& at, const TailPlan<typename P::Underlying>& plan, R& random) const {
    return plan.verify_last(at, random);
  }
};

}  // namespace draftproof::verifiers
