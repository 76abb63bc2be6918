// The e-value against a list of independent tokens of one law, of any length. An urn predicts each token and learns
// from it; the bet multiplies, over the tokens, the urn's probability divided by the law's.
//
//   p(x)    law             of every token
//   X(x)    counts          tokens seen; n their sum
//   A       strength        weight of p in the urn before the first token: 1, 4, 16, .. 4^10
//
//   log e_A = sum over x of log of the product of (A p(x) + j) / (A p(x)), j < X(x),
//             minus log of the product of (A + j) / A, j < n
//
// Correctness: each token's stake (A p(x) + seen(x)) / (A + n) sums to 1 over x. The product of stakes over p is
// therefore a martingale of mean 1 in the order of the tokens, and it depends on their counts alone. It is valid at a
// fixed n, at a random n and at any stopping time, and needs no Poisson number of trials. e is the average over A. A
// token of probability 0 is a proof: e is infinite.
//
// Cost: one lgamma for each cell and strength.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <draftproof/sim/numeric/neumaier_sum.hpp>
#include <draftproof/statistics/log_mean_exp.hpp>

namespace draftproof {

namespace detail {
/// log of the product of (a + j) / a over j < count.
inline double log_rising_factorial(double a, std::uint64_t count) {
  const auto n = static_cast<double>(count);
  return std::lgamma(a + n) - std::lgamma(a) - n * std::log(a);
}
}  // namespace detail

/// Returns log e, natural. `law` sums to 1; `counts` has the size of `law`.
inline double log_e_multinomial(std::span<const double> law, std::span<const std::uint64_t> counts) {
  std::uint64_t seen = 0;
  for (std::size_t x = 0; x < law.size(); ++x) {
    if (counts[x] > 0 && law[x] == 0) return std::numeric_limits<double>::infinity();
    seen += counts[x];
  }
  std::array<double, 11> bets;
  double strength = 1;
  for (double& bet : bets) {
    NeumaierSum sum;
    for (std::size_t x = 0; x < law.size(); ++x)
      if (counts[x] > 0) sum.add(detail::log_rising_factorial(strength * law[x], counts[x]));
    bet = sum.value() - detail::log_rising_factorial(strength, seen);
    strength *= 4;
  }
  return log_mean_exp(bets);
}

}  // namespace draftproof
