// A whole verifier in one header: the first draft gets the usual test, the other drafts get none; after a refusal the
// token is drawn from what is left of p, and counts as accepted if one of the drafts happens to be it.
//
//   p        at.target(x)            the large model's probability of token x
//   q        at.proposal(x)          the probability each draft was drawn with
//   x_k      at.draft(k)             the k-th proposed token, k = 0 .. at.drafts() - 1
//
// Exact because the first draft alone is single-draft sampling: accepting it serves min(p, q), and refusing it leaves
// (p - q)+ to be served. The other drafts do not change which token comes out, only whether it was foreseen.
#pragma once

#include <draftproof/sim/verifier.hpp>

namespace mine {

using namespace draftproof;

// The file first_or_other.hpp defines FirstOrOther: that is how the build finds it.
struct FirstOrOther {
  // All that draftproof knows of the scheme. `drafts` names the draft laws it is written for (`draftproof list`); each
  // of the claims is a property it will be held to.
  static constexpr Info info{.name = "first_or_other",
                             .summary = "test the first draft, then see whether another is the token drawn instead",
                             .source = "an example",
                             .drafts = DraftLaws{"iid"},
                             .claims = {.accepts_equal_laws = true, .one_draft_is_single_draft = true}};

  // One program for exact fractions, simulation, fresh rows and CUDA: `Position` says how p and q are seen and
  // `RandomSource` where decisions come from, so arithmetic stays generic and no random number is named.
  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    // True with probability min(1, p / q): a numerator and a denominator, never a quotient.
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    // One token of the law (p - q)+, normalised; `matched` says whether it is among the drafts.
    return matched(at, random.emit(at.residual(at.one())));
  }
};

}  // namespace mine
