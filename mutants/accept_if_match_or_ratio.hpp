// Mutant: two right rules joined into a wrong one. A token y is drawn from p, and the draft x is kept if it equals y
// or if the ratio test passes; otherwise the residual of single-draft sampling follows.
//
//   y        random.pick(p)      a draw from the target
//
// Cost: a draw from p, a flip, a draw after a refusal.
// Source: alibaba/rtp-llm#1295.
// Error: each of the two tests alone is exact; together they accept more than min(p, q).
// Hidden: at p = q, and where p and q share no token.
// Smallest: p = (1 1)/2, q = (0 1): law (1 3)/4, TV 1/4.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/last_draw.hpp>

namespace draftproof::mutants {

struct AcceptIfMatchOrRatio {
  static constexpr Info info{.name = "accept_if_match_or_ratio",
                             .summary = "keep the draft if it equals a draw from p or passes the ratio test",
                             .source = "slip reported as alibaba/rtp-llm#1295",
                             .drafts = DraftLaws{"iid"},
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    const Token y = random.pick(at.residual(at.zero()));
    if (x == y || random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    return last_draw(at, random, at.residual(at.one()));
  }
};

}  // namespace draftproof::mutants
