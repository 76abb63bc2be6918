// Mutant: recursive rejection that clips its residual after a refusal but does not divide it by its sum before the
// next test.
//
//   r        (p - b q)+              residual, with b the number of refusals
//
// Cost: K flips, one residual mass.
// Source: a slip of tree verifiers; rule of arXiv:2305.09781.
// Error: with a residual of mass below 1 every later test is too strict, and the last draw serves the difference.
// Hidden: at K = 1, at p = q, and at V = 2, K = 2 with q positive.
// Smallest: p = (0 1 2)/3, q = (1 0 1)/2, K = 2: law (0 5 7)/12, TV 1/12.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/last_draw.hpp>

namespace draftproof::mutants {

struct SiblingResidualNotNormalised {
  static constexpr Info info{.name = "sibling_residual_not_normalised",
                             .summary = "recursive rejection on a residual that is never divided by its sum",
                             .source = "slip of tree verifiers; rule of arXiv:2305.09781",
                             .drafts = DraftLaws{"iid"},
                             .derived_from = "recursive_rejection"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    auto b = at.zero();
    for (int k = 0; k < at.drafts(); ++k) {
      const Token x = at.draft(k);
      if (random.flip(at.target(x) - b * at.proposal(x), at.proposal(x))) return accepted(x, k);
      // Tests that are too strict can outlast the residual; the draw is then from the last residual with mass.
      const auto next = b + at.one();
      if (!(at.residual_mass(next) > at.zero())) break;
      b = next;
    }
    return last_draw(at, random, at.residual(b));
  }
};

}  // namespace draftproof::mutants
