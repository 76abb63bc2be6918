// Lowers the uniform number of the single-draft test by a tolerance that grows with the uncertainty of p, and keeps
// the lossless residual. Lossy by design: drafts with p < q are accepted more often. The difference does not show at
// p = q, and there is no difference where p is certain.
//
//   p_max        plan          largest target probability
//   t                          tolerance (1 - p_max)
//   accepts                    with probability min(1, p / q + t); never if p < 2^-23 q
//
// Cost: one pass for p_max; one flip, and one pass after a refusal.
// Source: Sun et al. 2025 (EARS), arXiv:2512.13194; vllm-ascend PR 5587 and 7845, `VLLM_EARS_TOLERANCE`. The last
// condition is the clamp of PR 7845, which keeps the uniform number at or above 2^-23, the machine epsilon of float32.
#pragma once

#include <draftproof/verifiers/lossy/relaxed_acceptance.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::verifiers::lossy {

struct Ears {
  static constexpr Info info{.name = "ears",
                             .summary = "accept with min(1, p / q + t), t growing with 1 - max p",
                             .source = "Sun et al. 2025 (EARS), arXiv:2512.13194; vllm-ascend PR 7845",
                             .drafts = DraftSamplings{"iid"},
                             .promise = Promise::lossy,
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  double tolerance = 0.3, smallest = 0x1p-23;

  template <Distributions L>
  DRAFTPROOF_DEVICE typename L::Scalar prepare(const L& distributions, int) const {
    using Scalar = typename L::Scalar;
    return Scalar(tolerance) * (distributions.one() - distributions.target(next_likeliest(distributions)));
  }

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, const typename P::Scalar& lowered, R& random) const {
    using Scalar = typename P::Scalar;
    const Token x = at.draft(0);
    const Scalar p = at.target(x), q = at.proposal(x);
    const bool possible = !(p < Scalar(smallest) * q);
    if (possible && random.flip(p + lowered * q, q)) return accepted(x, 0);
    return last_draw(at, random, at.residual(at.one()));
  }
};

}  // namespace draftproof::verifiers::lossy
