// Mutant: single-draft sampling that also accepts on the threshold: u q <= p, with u in [0, 1).
//
//   u        one uniform     can be 0: a draft with p = 0 is then accepted
//
// Source: sgl-project/sglang#35771.
// Error: 2^-53 a test, so neither laws nor samples show it, and an explorer finds it exact. On a grid of b bits the
// error is one cell, 1/32 in total variation at b = 4.
// Smallest: p=(0 1), q=(1 1)/2, u = 0.
#pragma once

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/last_draw.hpp>

namespace draftproof::mutants {

struct NonStrictCompare {
  static constexpr Info info{.name = "non_strict_compare",
                             .summary = "accept while u q <= p, on the threshold too",
                             .source = "sgl-project/sglang#35771",
                             .drafts = DraftLaws{"iid"},
                             .most_drafts = 1,
                             .claims = {.accepts_equal_laws = true, .one_draft_is_single_draft = true},
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (keeps(at.target(x), at.proposal(x), random)) return accepted(x, 0);
    return last_draw(at, random, at.residual(at.one()));
  }

 private:
  /// A real-valued uniform is on its threshold with probability 0.
  template <class Scalar, class R>
  DRAFTPROOF_DEVICE static bool keeps(const Scalar& p, const Scalar& q, R& random) {
    if constexpr (requires { random.next(Purpose::flip); })
      return unit_interval(random.next(Purpose::flip)) * static_cast<double>(q) <= static_cast<double>(p);
    else
      return random.flip(p, q);
  }
};

}  // namespace draftproof::mutants
