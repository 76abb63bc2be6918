// Mutant: single-draft sampling whose residual draw is a race in the noise that drew the draft.
//
//   E_x      noise of stream 0           the draft is argmin E / q, the correction argmin E / (p - q)+
//
// Source: vllm-project/vllm#47386, fixed by #54282.
// Error: if x won the race of q at time T, every other clock is above q T, so the correction favours tokens with
// little q. An explorer cannot enumerate noise; the ledger sees which words are read, trials see the law.
// Hidden: where the residual has one token, so below V = 3.
// Smallest: by hand, as the remainder of each clock is exponential again and T is too: p=(1 1 1)/3, q=(8 1 3)/12
// gives (10 11 9)/30, TV 1/30.
#pragma once

#include <draftproof/sim/sampling/exponential_race.hpp>
#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/last_draw.hpp>

namespace draftproof::mutants {

struct DraftNoiseReused {
  static constexpr Info info{
      .name = "draft_noise_reused",
      .summary = "draw the correction by the race noise that drew the draft",
      .source = "vllm-project/vllm#47386, fixed by #54282",
      .drafts = DraftLaws{"gumbel_iid"},
      .most_drafts = 1,
      .claims = {.accepts_equal_laws = true, .one_draft_is_single_draft = true},
      .unsupported = {.explore = "its correction is drawn by noise that the drafter reads too"},
      .derived_from = "single_draft"};

  template <Position P, NoiseSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    const auto left = [&at](Token y) {
      const auto weight = at.target(y) - at.proposal(y);
      return weight > at.zero() ? weight : at.zero();
    };
    const Token won = race<1>(at.laws(), 0, 1, 1, left, random)[0].token;
    if (won != no_token) return {won, none_accepted};
    return last_draw(at, random, at.residual(at.one()));
  }
};

}  // namespace draftproof::mutants
