// Lenience set by the entropy of p: accepts with probability min(1, p / (l q)), where l falls as the entropy grows,
// and keeps the lossless residual. Lossy by design, also where the entropy of p is small, because l is at most a
// constant below 1. The difference does not show at p = q.
//
//   H(p)                           entropy of p, in nats, with 1e-10 added to p in the logarithm
//   l        typical_threshold     min(posterior_threshold, exp(-posterior_alpha H))
//
// l is rounded to float32, the precision of the source, so that it does not depend on the order of the entropy's
// terms.
//
// Cost: one pass for l; one flip, and one pass after a refusal.
// Source: vllm-ascend PR 9772, `enable_entropy_verify`, kernel rejection_random_sample_kernel: the uniform number is
// multiplied by l. l is the threshold of typical acceptance, but here it scales a test against q.
#pragma once

#include <draftproof/verifiers/lossy/typical_acceptance.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::verifiers::lossy {

struct EntropyVerify {
  static constexpr Info info{.name = "entropy_verify",
                             .summary = "accept with min(1, p / (l q)), l falling with the entropy of p",
                             .source = "vllm-ascend PR 9772, entropy verify",
                             .drafts = DraftSamplings{"iid"},
                             .promise = Promise::lossy,
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  double posterior_threshold = 0.95, posterior_alpha = 1;

  template <Distributions L>
  DRAFTPROOF_DEVICE float prepare(const L& distributions, int) const {
    return static_cast<float>(typical_threshold(distributions, posterior_threshold, 1, 1e-10, posterior_alpha));
  }

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, float lenience, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(at.target(x), typename P::Scalar(lenience) * at.proposal(x))) return accepted(x, 0);
    return last_draw(at, random, at.residual(at.one()));
  }
};

}  // namespace draftproof::verifiers::lossy
