// Two-step verification of drafts from different proposals, with a selection that is optimised on few tokens: an
// optimal flow decides tuples inside the n likeliest tokens of p, and the ladder of the mean proposal decides all other
// tuples.
//
//   n      inside         most tokens of the reduced alphabet; fewer if these have more than 1024 sets
//   beta   sets           shares of the sets inside (verifiers/transport/alphabet_plan.hpp)
//   p_I    distribution   distribution of the selected draft
//
// Cost: O(V log V) and a flow over at most 1024 sets once per (p, q, K); a look-up, one draw and one flip per trial,
// and a pass for the residual. Acceptance: sum min(p_I, p), at least that of ladder_independent, and at least the
// optimum minus Pr(some draft is outside), because the selection is optimal on all other tuples; n = V is optimal.
// Source: Khisti et al., arXiv:2410.18234, which reduces the alphabet to 10 to 50 tokens; a reconstruction: the
// choice of tokens and the rule outside are derived here, and losslessness is proved here by enumeration.
// Correctness: p_I is the distribution of the selected draft for any tokens inside and any levels outside.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/transport/alphabet_plan.hpp>

namespace draftproof::verifiers {

struct TruncatedAlphabet {
  static constexpr Info info{
      .name = "truncated_alphabet",
      .summary = "select among drafts of different proposals: a flow on the likeliest tokens, a ladder outside",
      .source = "Khisti et al., arXiv:2410.18234, reduced alphabet; reconstruction",
      .drafts = DraftSamplings{"independent"},
      .claims = {.accepts_equal_distributions = true, .one_draft_is_single_draft = true},
      .unsupported = {.device = "the plan is made on the host"},
      .ranks_tokens = true};

  int inside = 40;

  template <Distributions L>
  TwoStepByAlphabet<L> prepare(const L& distributions, int drafts) const {
    return {distributions, drafts, drafts, inside};
  }

  template <Position P, RandomSource R>
  Verdict verify(const P& at, const TwoStepByAlphabet<typename P::Underlying>& plan, R& random) const {
    return plan.verify(at, random);
  }
};

}  // namespace draftproof::verifiers
