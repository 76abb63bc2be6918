// Mutant: tests every draft against p itself; only the last residual is right.
//
// Source: a slip of multi-draft loops that never update the residual.
// Error: after a refusal part of p is already served.
// Hidden: at K = 1, where it is single-draft sampling, and at p = q.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/last_draw.hpp>

namespace draftproof::mutants {

struct NoResidualUpdate {
  static constexpr Info info{.name = "no_residual_update",
                             .summary = "test every draft against p, as if none had been refused",
                             .source = "common slip of recursive rejection, arXiv:2305.09781",
                             .drafts = DraftLaws{"iid"},
                             .derived_from = "recursive_rejection"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    for (int k = 0; k < at.drafts(); ++k)
      if (const Token x = at.draft(k); random.flip(at.target(x), at.proposal(x))) return accepted(x, k);
    return last_draw(at, random, at.residual(at.one()));
  }
};

}  // namespace draftproof::mutants
