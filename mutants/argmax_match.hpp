// Mutant: emits the most probable token of p, whatever was drafted; it counts as accepted if it was.
//
// Source: greedy verification applied to sampling.
// Hidden: if p is a point mass.
#pragma once

#include <draftproof/sim/verifier.hpp>

namespace draftproof::mutants {

struct ArgmaxMatch {
  static constexpr Info info{.name = "argmax_match",
                             .summary = "emit the most probable token of p",
                             .source = "greedy verification used for sampling",
                             .drafts = DraftLaws{"iid"},
                             .derived_from = "sample_and_match"};

  template <Laws L>
  DRAFTPROOF_DEVICE Token prepare(const L& laws, int) const {
    Token best = 0;
    for (Token x = 1; x < laws.vocabulary(); ++x)
      if (laws.target(x) > laws.target(best)) best = x;
    return best;
  }

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, Token best, R&) const {
    return accepted(best, find_draft(at, best));
  }
};

}  // namespace draftproof::mutants
