// Accepts a draft of high target probability without a test, and tests the other drafts with an enlarged target
// probability. Lossy by design; with both thresholds 1 it is lossless for distinct drafts. q is not read.
//
//   p            at.target(x)      target probability of token x
//   t_1          threshold_single  a draft with p >= t_1 is accepted
//   t            threshold_acc     draft k is accepted if u t < p(x_1) + .. + p(x_k), one u for all drafts
//   t - s        left              t minus the sum s of the refused drafts
//
// Cost: K flips, and one pass after K refusals.
// Source: SGLang, tree_speculative_sampling_target_only; PR 7702 and 8068 give every request a pair of thresholds, so
// that the thresholds can be lower for reasoning than for the answer. SGLang's thresholds are 1 unless they are set.
// Correctness: given that drafts 1 .. k - 1 were refused, u t is uniform on [s, t), so draft k is accepted with
// probability p(x_k) / (t - s). After K refusals the token is drawn from p without the drafts.
#pragma once

#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::verifiers::lossy {

struct ThresholdAcceptance {
  static constexpr Info info{.name = "threshold_acceptance",
                             .summary = "accept drafts of high p, and the others with p / t",
                             .source = "SGLang, threshold_single and threshold_acc; PR 7702, 8068",
                             .drafts = DraftSamplings{"fixed_top_k", "without_replacement"},
                             .promise = Promise::lossy,
                             .derived_from = "sample_and_match"};

  double threshold_single = 0.5, threshold_acc = 0.75;

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    using Scalar = typename P::Scalar;
    Scalar left(threshold_acc);
    for (int k = 0; k < at.drafts(); ++k) {
      const Token x = at.draft(k);
      const Scalar p = at.target(x);
      if (!(p < Scalar(threshold_single)) || random.flip(p, left)) return accepted(x, k);
      left = left - p;  // positive, because a flip can refuse only if p < left
    }
    return last_draw(at, random, at.weights([&at](Token x) {
      return among(x, at.draft_data(), at.drafts()) ? at.zero() : typename P::Scalar(at.target(x));
    }));
  }
};

}  // namespace draftproof::verifiers::lossy
