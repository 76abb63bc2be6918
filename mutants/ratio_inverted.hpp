// Mutant: single-draft sampling with its ratio inverted: the draft is kept with probability min(1, q / p).
//
// Cost: one flip, a draw after a refusal.
// Source: a classic slip, p and q swapped in one line; rule of arXiv:2211.17192.
// Error: drafts with p below q are always kept.
// Hidden: at p = q only.
// Smallest: p = (1 2)/3, q = (2 1)/3: law (2 1)/3, TV 1/3.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/last_draw.hpp>

namespace draftproof::mutants {

struct RatioInverted {
  static constexpr Info info{.name = "ratio_inverted",
                             .summary = "keep the draft with min(1, q / p)",
                             .source = "classic slip; rule of arXiv:2211.17192",
                             .drafts = DraftLaws{"iid"},
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    // u * 0 < q holds for every u: a draft with p = 0 is kept, as in an engine.
    if (!(at.target(x) > at.zero()) || random.flip(at.proposal(x), at.target(x))) return accepted(x, 0);
    return last_draw(at, random, at.residual(at.one()));
  }
};

}  // namespace draftproof::mutants
