// Mutant: single-draft sampling that draws from the residual alone, also where rounding left it no mass. Released
// verifiers divide by its sum there, and draw from 0 / 0.
//
// Source: engines that normalise (p - q)+ by its sum, without a floor and without a test.
// Error: none in exact arithmetic, where a refusal leaves a residual.
// Visible: where p is below q somewhere and above it nowhere, by rounding: a refusal there has no token.
// Smallest: p=(1), q=(1) with p one unit below q, the largest uniform.
#pragma once

#include <draftproof/sim/verifier.hpp>

namespace draftproof::mutants {

struct ResidualWithoutMass {
  static constexpr Info info{.name = "residual_without_mass",
                             .summary = "draw from the residual without asking whether anything is left",
                             .source = "engines that divide (p - q)+ by its sum, untested",
                             .drafts = DraftLaws{"iid"},
                             .most_drafts = 1,
                             .claims = {.accepts_equal_laws = true, .one_draft_is_single_draft = true},
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    return random.emit(at.residual(at.one()));
  }
};

}  // namespace draftproof::mutants
