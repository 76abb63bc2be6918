// Sample and match: draw the token from the target itself and count it as accepted if it was drafted.
//
//   p        at.target(x)        target probability of token x; q is never read
//
// Cost: one draw from p. Acceptance sum over x of p(x) Pr(x is drafted), which no rule can beat when the drafts are a
// fixed set. Source: naive sampling of Miao et al. 2023 (SpecInfer), arXiv:2305.09781.
// Exact for every draft law because the token does not depend on the drafts.
#pragma once

#include <draftproof/sim/verifier.hpp>

namespace draftproof::verifiers {

struct SampleAndMatch {
  static constexpr Info info{
      .name = "sample_and_match",
      .summary = "draw from p; accepted if that token was drafted",
      .source = "Miao et al. 2023 (SpecInfer), arXiv:2305.09781, naive sampling",
      .drafts = any_law,
      .claims = {.flag_is_membership = true, .more_drafts_never_hurt = true, .drafter_invariant = true}};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    return matched(at, random.emit(at.residual(at.zero())));
  }
};

}  // namespace draftproof::verifiers
