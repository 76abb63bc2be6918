// Single-draft speculative sampling: keeps the draft with probability min(1, p / q), else draws from (p - q)+.
//
//   p        at.target(x)        target probability of token x
//   q        at.proposal(x)      probability the draft was drawn with
//
// Cost: one flip; one pass over the vocabulary after a refusal.
// Acceptance: sum min(p, q), the best of any coupling.
// Source: Leviathan et al. 2023, arXiv:2211.17192, algorithm 1; Chen et al. 2023, arXiv:2302.01318, algorithm 2.
// Correctness: token x is emitted by acceptance with probability min(p, q), and after a refusal with probability
// (p - q)+; the sum is p.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::verifiers {

struct SingleDraft {
  static constexpr Info info{.name = "single_draft",
                             .summary = "accept the draft with min(1, p/q), else draw from (p - q)+",
                             .source = "Leviathan et al. 2023, arXiv:2211.17192; Chen et al. 2023, arXiv:2302.01318",
                             .drafts = DraftSamplings{"iid"},
                             .most_drafts = 1,
                             .claims = {.accepts_equal_distributions = true,
                                        .one_draft_is_single_draft = true,
                                        .emitted_drafts_are_accepted = true},
                             .sequential = true};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    return last_draw(at, random, at.residual(at.one()));
  }
};

}  // namespace draftproof::verifiers
