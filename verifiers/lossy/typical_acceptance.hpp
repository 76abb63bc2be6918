// Typical acceptance: takes the first draft whose target probability exceeds a threshold made from the entropy of p,
// without a test against q; if none does, draws the token from p. Lossy by design: likely tokens are emitted as often
// as q drafts them, not as often as p requires.
//
//   p        at.target(x)        target probability of token x
//   H(p)     typical_threshold   entropy of p, in nats
//   th       typical_threshold   min(epsilon, delta exp(-H(p)))
//
// Cost: one pass for the threshold; O(K) per trial, and one draw if no draft passes.
// Source: Cai et al. 2024 (Medusa), arXiv:2401.10774, section 2.3.1.
#pragma once

#include <cmath>

#include <draftproof/sim/verifier.hpp>

namespace draftproof::verifiers::lossy {

/// Returns min(epsilon, delta exp(-scale H)) with H = -sum p log(p + added).
template <Distributions L>
DRAFTPROOF_DEVICE double typical_threshold(const L& distributions, double epsilon, double delta, double added = 0,
                                           double scale = 1) {
  // distributions.sum() requires non-negative terms with a total below 8. The terms therefore use the difference of the
  // logarithm from its largest value, at p = 1, divided by 16. Their total is below 1, because H <= ln V < 16 for every
  // V up to 2^23.
  const double largest = std::log1p(added);
  const double sixteenth = distributions.sum([&distributions, added, largest](Token x) {
    const double p = static_cast<double>(distributions.target(x));
    const double below = largest - std::log(p + added);
    return p > 0 && below > 0 ? p * below / 16 : 0.0;
  });
  const double typical = delta * std::exp(scale * (largest - 16 * sixteenth));
  return typical < epsilon ? typical : epsilon;
}

struct TypicalAcceptance {
  static constexpr Info info{.name = "typical_acceptance",
                             .summary = "take the first draft that is typical under p, without a test against q",
                             .source = "Cai et al. 2024 (Medusa), arXiv:2401.10774",
                             .drafts = DraftSamplings{"iid"},
                             .promise = Promise::lossy,
                             .derived_from = "recursive_rejection"};

  double epsilon = 0.3, delta = 0.6;

  template <Distributions L>
  DRAFTPROOF_DEVICE double prepare(const L& distributions, int) const {
    return typical_threshold(distributions, epsilon, delta);
  }

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, double threshold, R& random) const {
    for (int k = 0; k < at.drafts(); ++k)
      if (const Token x = at.draft(k); static_cast<double>(at.target(x)) > threshold) return accepted(x, k);
    return random.emit(at.residual(at.zero()));
  }
};

}  // namespace draftproof::verifiers::lossy
