// The certificate of an output distribution as rollouts of p for reinforcement learning: how far tokens that a lossy
// rule emits are from tokens of p, and the largest weight of importance sampling that corrects them.
//
//   pi       output             output distribution of the rule, p the target
//   TV       total_variation    bias: largest error of the probability of any event
//   KL       divergence         KL(pi || p) in nats; infinite if a token with p = 0 is emitted
//   w        ratio              largest p(x) / pi(x); a gradient weighted with p / pi has no bias
//   -        never_emitted      first token with pi(x) = 0 < p(x); no weight corrects for a token that is never emitted
//
// If a token is never emitted although p(x) > 0, there is no certificate, because w is unbounded.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include <draftproof/sim/token.hpp>

namespace draftproof {

template <class Scalar>
struct RolloutCertificate {
  Scalar total_variation{0};
  double divergence = 0;
  Scalar ratio{0};
  Token never_emitted = no_token;

  bool refused() const { return never_emitted != no_token; }
};

/// Returns the certificate of an output distribution. Requires two distributions of the same size. Tokens with p <=
/// `least` are left out of `ratio` and `never_emitted`, because in double, whose distributions are rounded to units of
/// 2^-60, the probability of such a token may be a rounding error.
template <class Scalar>
RolloutCertificate<Scalar> rollout_certificate(std::span<const Scalar> output, std::span<const Scalar> target,
                                               const Scalar& least = Scalar(0)) {
  RolloutCertificate<Scalar> result;
  for (std::size_t x = 0; x < target.size(); ++x) {
    const Scalar &pi = output[x], &p = target[x];
    if (pi > p) result.total_variation += pi - p;
    if (pi > 0) {
      const Scalar weight = p / pi;
      if (p > least && weight > result.ratio) result.ratio = weight;
      result.divergence += p > 0 ? -static_cast<double>(pi) * std::log(static_cast<double>(weight))
                                 : std::numeric_limits<double>::infinity();
    } else if (p > least && !result.refused()) {
      result.never_emitted = static_cast<Token>(x);
    }
  }
  return result;
}

}  // namespace draftproof
