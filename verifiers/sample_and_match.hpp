// Sample and match: draws the token from the target and counts it as accepted if it was drafted.
//
//   p        at.target(x)        target probability of token x; q is not read
//
// Cost: one draw from p.
// Acceptance: sum over x of p(x) Pr(x is drafted), the best of any rule when the drafts are a fixed set.
// Source: naive sampling of Miao et al. 2023 (SpecInfer), arXiv:2305.09781.
// Correctness: the token does not depend on the drafts, so the scheme is lossless for every draft sampling.
#pragma once

#include <draftproof/sim/verifier.hpp>

namespace draftproof::verifiers {

struct SampleAndMatch {
  static constexpr Info info{
      .name = "sample_and_match",
      .summary = "draw from p; accepted if that token was drafted",
      .source = "Miao et al. 2023 (SpecInfer), arXiv:2305.09781, naive sampling",
      .drafts = any_draft_sampling,
      .claims = {.emitted_drafts_are_accepted = true, .more_drafts_never_hurt = true, .drafter_invariant = true}};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    return matched(at, random.emit(at.residual(at.zero())));
  }
};

}  // namespace draftproof::verifiers
