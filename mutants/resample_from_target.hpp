// Mutant: the right accept test, then after a refusal a draw from p instead of the residual.
//
//   p        at.target(x)     target probability of token x
//   q        at.proposal(x)   probability the draft was drawn with
//
// Source: a slip reported in public verifiers (alibaba/rtp-llm#1295).
// Error: accepted drafts already served min(p, q); the draw from all of p serves it twice.
// Hidden: when p = q and when p and q are disjoint.
#pragma once

#include <draftproof/sim/verifier.hpp>

namespace draftproof::mutants {

struct ResampleFromTarget {
  static constexpr Info info{.name = "resample_from_target",
                             .summary = "after a refusal draw from p, not from (p - q)+",
                             .source = "slip reported as alibaba/rtp-llm#1295",
                             .drafts = DraftLaws{"iid"},
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    return random.emit(at.residual(at.zero()));
  }
};

}  // namespace draftproof::mutants
