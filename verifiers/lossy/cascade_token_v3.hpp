// Keeps a draft without a test if its target probability is near the largest one, and verifies it by single-draft
// sampling otherwise. Lossy by design: kept tokens are emitted at least as often as q drafts them. The difference
// does not show at p = q.
//
//   p_max    plan      largest target probability
//   alpha              0: a most probable token is kept; 1: every draft is kept
//   kept               p(x) >= (1 - alpha) p_max
//
// Cost: one pass for p_max; at most one flip, and one pass after a refusal.
// Source: rule TokenV3 of Narasimhan et al. 2025 (speculative cascades), arXiv:2405.19261, as an acceptance rule in
// MTPLX PR 485 and mlx-serve PR 427, `--mtp-tokenv3 0.95`: a draft that is not kept is verified by the exact rule.
#pragma once

#include <draftproof/verifiers/lossy/relaxed_acceptance.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::verifiers::lossy {

struct CascadeTokenV3 {
  static constexpr Info info{.name = "cascade_token_v3",
                             .summary = "keep a draft whose p is near the largest, else test it",
                             .source = "Narasimhan et al. 2025, arXiv:2405.19261, TokenV3; MTPLX PR 485",
                             .drafts = DraftSamplings{"iid"},
                             .promise = Promise::lossy,
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  double alpha = 0.95;

  template <Distributions L>
  DRAFTPROOF_DEVICE typename L::Scalar prepare(const L& distributions, int) const {
    return distributions.target(next_likeliest(distributions));
  }

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, const typename P::Scalar& largest, R& random) const {
    using Scalar = typename P::Scalar;
    const Token x = at.draft(0);
    const bool kept = !(at.target(x) < (at.one() - Scalar(alpha)) * largest);
    if (kept || random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    return last_draw(at, random, at.residual(at.one()));
  }
};

}  // namespace draftproof::verifiers::lossy
