// Mutant: the right accept test; after a refusal a draw from p in which only the refused token's entry is lowered by
// q and clipped at 0. Setting that entry to 0 has the same law, since a refused token has p < q.
//
//   p        at.target(x)     target probability of token x
//   q        at.proposal(x)   probability the draft was drawn with
//
// Cost: one flip, a pass after a refusal.
// Source: SafeAILab/EAGLE#20, xLLM-AI/xllm#2175.
// Error: every token that q drafts was served, not only the refused one.
// Hidden: at p = q, at V = 2 and where the residual has one token besides the refused one.
// Smallest: p = (0 1 1)/2, q = (1 0 1)/2: law (0 1 3)/4, TV 1/4.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/last_draw.hpp>

namespace draftproof::mutants {

struct ResidualLowersOneEntry {
  static constexpr Info info{.name = "residual_lowers_one_entry",
                             .summary = "after a refusal draw from p without the refused token",
                             .source = "slip reported as SafeAILab/EAGLE#20 and xLLM-AI/xllm#2175",
                             .drafts = DraftLaws{"iid"},
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    using Scalar = typename P::Scalar;
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    return last_draw(at, random, at.weights([&at, x](Token y) -> Scalar {
      const Scalar lowered = y == x ? Scalar(at.target(y) - at.proposal(y)) : Scalar(at.target(y));
      return lowered > at.zero() ? lowered : at.zero();
    }));
  }
};

}  // namespace draftproof::mutants
