// A complete verifier in one header. The first draft gets the test of single-draft speculative sampling; the other
// drafts get no test. After a rejection the token is drawn from the residual of p; it counts as accepted if it is among
// the drafts.
//
//   p        at.target(x)            the target's probability of token x
//   q        at.proposal(x)          the probability with which each draft was drawn
//   x_k      at.draft(k)             the k-th drafted token, k = 0 .. at.drafts() - 1
//
// Correctness: the test of the first draft is single-draft speculative sampling. Acceptance emits min(p, q), and
// rejection emits (p - q)+. The other drafts do not change the distribution of the token, only whether it counts as
// accepted.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace mine {

using namespace draftproof;

// The build finds the struct by the name of its file: first_or_other.hpp defines FirstOrOther.
struct FirstOrOther {
  // The description of the scheme. `drafts` names the draft samplings that it supports (`draftproof list`); each
  // claim is a property that draftproof checks.
  static constexpr Info info{.name = "first_or_other",
                             .summary = "test the first draft, then see whether another is the token drawn instead",
                             .source = "an example",
                             .drafts = DraftSamplings{"iid"},
                             .claims = {.accepts_equal_distributions = true, .one_draft_is_single_draft = true}};

  // One program for exact fractions, simulation, fresh rows and CUDA. `Position` provides p, q and the drafts, and
  // `RandomSource` makes the random decisions, so the arithmetic is generic and no random number appears.
  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    // True with probability min(1, p / q), given as numerator and denominator, never as a quotient.
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    // Draws a token from (p - q)+, normalised, or from p if rounding left no residual; `matched` records whether it is
    // among the drafts.
    return matched(at, last_draw(at, random, at.residual(at.one())));
  }
};

}  // namespace mine
