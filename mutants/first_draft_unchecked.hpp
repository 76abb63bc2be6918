// Mutant: recursive rejection whose loop over the drafts starts at the second. The output is set to the first draft
// before the loop, and keeps it if every other draft is refused.
//
//   F(b)     at.residual_mass(b)     sum over the vocabulary of (p - b q)+
//
// Cost: K - 1 flips.
// Source: ohdearquant/lattice#243, where a loop over positions starts at 1; this is the same slip in a loop over
// siblings.
// Error: an untested draft has law q, and no residual is ever served.
// Hidden: at p = q only.
// Smallest: p = (0 1), q = (1 0), K = 1: law (1 0), TV 1.
#pragma once

#include <draftproof/sim/verifier.hpp>

namespace draftproof::mutants {

struct FirstDraftUnchecked {
  static constexpr Info info{
      .name = "first_draft_unchecked",
      .summary = "recursive rejection that starts at the second draft and falls back to the first",
      .source = "loop bound as in ohdearquant/lattice#243; rule of arXiv:2305.09781",
      .drafts = DraftLaws{"iid"},
      .derived_from = "recursive_rejection"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    auto b = at.zero();
    auto mass = at.one();
    for (int k = 1; k < at.drafts(); ++k) {
      const Token x = at.draft(k);
      if (random.flip(at.target(x) - b * at.proposal(x), mass * at.proposal(x))) return accepted(x, k);
      b += mass;
      mass = at.residual_mass(b);
    }
    return accepted(at.draft(0), 0);
  }
};

}  // namespace draftproof::mutants
