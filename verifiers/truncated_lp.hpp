// Two-step verification of K i.i.d. drafts, with a selection that is optimised on few tokens: an optimal flow decides
// tuples whose tokens are all among the n likeliest tokens of p, the ladder decides all other tuples.
//
//   n      inside         most tokens whose tuples are optimised; fewer if these have more than 1024 sets
//   beta   sets           shares of the sets inside (verifiers/transport/alphabet_plan.hpp)
//   p_I    distribution   distribution of the selected draft
//
// Cost: O(V log V) and a flow over at most 1024 sets once per (p, q, K), then a look-up, one draw and one flip; on
// fresh rows the plan is made on buckets of p / q.
// Acceptance: sum min(p_I, p), the optimum for any n, because the ladder outside is optimal already. On buckets the
// ladder loses a little, and so does this scheme.
// Source: Khisti et al., arXiv:2410.18234, for the truncated program. This is a reconstruction: the choice of the n
// tokens and the rule for other tuples are derived here, and losslessness is proved here by enumeration.
// Correctness: p_I is the distribution of the selected draft for every n, every flow and any levels.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/transport/alphabet_plan.hpp>

namespace draftproof::verifiers {

struct TruncatedLp {
  static constexpr Info info{
      .name = "truncated_lp",
      .summary = "select among i.i.d. drafts: a flow on the likeliest tokens, a ladder outside",
      .source = "Khisti et al., arXiv:2410.18234, truncated program; reconstruction",
      .drafts = DraftSamplings{"iid"},
      .claims = {.accepts_equal_distributions = true,
                 .one_draft_is_single_draft = true,
                 .more_drafts_never_hurt = true},
      .unsupported = {.device = "the plan is made on the host"},
      .ranks_tokens = true};

  int inside = 10;

  template <Distributions L>
  TwoStepByAlphabet<L> prepare(const L& distributions, int drafts) const {
    return {distributions, drafts, 1, inside};
  }

  template <Position P, RandomSource R>
  Verdict verify(const P& at, const TwoStepByAlphabet<typename P::Underlying>& plan, R& random) const {
    return plan.verify(at, random);
  }
};

}  // namespace draftproof::verifiers
