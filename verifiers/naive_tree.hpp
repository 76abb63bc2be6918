// Naive tree: the single-draft test on the first draft; after a refusal the residual draw counts as accepted if it is
// one of the other drafts.
//
//   p        at.target(x)        target probability of token x
//   q        at.proposal(x)      probability each draft was drawn with
//
// Cost: one flip, one pass after a refusal.
// Acceptance: 1 - sum (p - q)+ (1 - q)^(K-1).
// Source: the naive-tree baseline of multi-path comparisons, arXiv:2602.16994.
// Correctness: drafts 2..K are independent of the first and influence neither the test nor the residual.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::verifiers {

struct NaiveTree {
  static constexpr Info info{.name = "naive_tree",
                             .summary = "single-draft test on the first draft, then match the residual draw",
                             .source = "baseline in arXiv:2602.16994",
                             .drafts = DraftSamplings{"iid"},
                             .claims = {.accepts_equal_distributions = true,
                                        .one_draft_is_single_draft = true,
                                        .emitted_drafts_are_accepted = true,
                                        .more_drafts_never_hurt = true}};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    return matched(at, last_draw(at, random, at.residual(at.one())));
  }
};

}  // namespace draftproof::verifiers
