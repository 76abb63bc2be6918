// E-values for counts of tokens, for the count of one Poisson cell, and for events that occur too often; and Poisson
// numbers of trials, which make the counts of cells independent.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <draftproof/properties/statistics/error_budget.hpp>
#include <draftproof/properties/statistics/log_mean_exp.hpp>
#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof {

// The e-value against the null that a list of tokens, of any length, is independent with distribution p. A Polya urn
// predicts each token and is updated by it; the bet is the product over tokens of the urn's probability divided by p.
//
//   p(x)    distribution    distribution of every token
//   X(x)    counts          tokens seen; n their sum
//   A       strength        weight of p in the urn before the first token: 1, 4, 16, .. 4^10
//
//   log e_A = sum over x of log of the product of (A p(x) + j) / (A p(x)), j < X(x),
//             minus log of the product of (A + j) / A, j < n
//
// Correctness: each token's stake (A p(x) + seen(x)) / (A + n) sums to 1 over x. The product of stakes over p
// is therefore a martingale of mean 1 in the order of the tokens, and depends on their counts only. It is valid
// at a fixed n, at a random n and at any stopping time, and needs no Poisson number of trials. e is the average
// over A. A token of probability 0 is a proof: e is infinite.
//
// Cost: one lgamma for each cell and strength.

namespace detail {
/// Returns log of the product of (a + j) / a over j < count.
inline double log_rising_factorial(double a, std::uint64_t count) {
  const auto n = static_cast<double>(count);
  return std::lgamma(a + n) - std::lgamma(a) - n * std::log(a);
}
}  // namespace detail

/// Returns the natural log e. `distribution` sums to 1; `counts` has the size of `distribution`.
inline double log_e_multinomial(std::span<const double> distribution, std::span<const std::uint64_t> counts) {
  std::uint64_t seen = 0;
  for (std::size_t x = 0; x < distribution.size(); ++x) {
    if (counts[x] > 0 && distribution[x] == 0) return std::numeric_limits<double>::infinity();
    seen += counts[x];
  }
  std::array<double, 11> bets;
  double strength = 1;
  for (double& bet : bets) {
    NeumaierSum sum;
    for (std::size_t x = 0; x < distribution.size(); ++x)
      if (counts[x] > 0) sum.add(detail::log_rising_factorial(strength * distribution[x], counts[x]));
    bet = sum.value() - detail::log_rising_factorial(strength, seen);
    strength *= 4;
  }
  return log_mean_exp(bets);
}

// The e-value of one cell: the likelihood ratio of a Poisson count whose rate is multiplied by a Gamma variable of mean
// 1 to a Poisson count with the unchanged rate. The ratio is never negative and has mean 1 under the null.
//
//   X      count      observed count, an integer (rounded above 2^53)
//   E      mean       expected count under the null, > 0
//   a      shape      shape of the Gamma variable, > 0; its variance is 1 / a, so a large a is a cautious bet
//   d, t              X - E, d / (a + E)
//   s(z)              lgamma(z) - (z - 1/2) log z + z - log(2 pi) / 2, Stirling's remainder
//
//   log e = lgamma(a + X) - lgamma(a) - X log a - (a + X) log1p(E / a) + E
//
// This form suffers from cancellation: at a = 1e6 its terms are a million times the result. Four equal forms avoid the
// cancellation:
//   X = 0            E - a log1p(E / a)
//   X <= 32          log of the product of (1 + j / a), j < X, in place of the lgammas
//   a >= 16          (a + E) ((1 + t) log1p(t) - t) - log1p(X / a) / 2 + s(a + X) - s(a)
//   a >= 512 (X + E) the third form as a series in t and X / a, without a logarithm; most bets of an ETable use it
// For smaller a with larger X, 16 factors are split off, and the third form computes the rest with shape a + 16.
//
// Error, derived: a rounding u = 2^-53 of E moves log e by |t| E u <= |d| u. The roundings of the third form move it
// by (a + X) log1p(t) u, t u and the roundings of its small terms. The result is therefore off by at most
//   8 u (|d| (1 + log(1 + |t|)) + 40 + log(1 + (X + E) / a) max(1, min(X, 48))).
//
// Cost: zero to four logarithms.
//
// Correctness: under the null X is Poisson, and the numerator is the distribution of X when the rate is drawn
// first. a does not depend on E, so e of the accumulated counts and means is a martingale over batches.

/// Returns log e of one cell; count >= 0, mean > 0, shape > 0. The e-values of tables in this folder are averages of
/// products of e.
double log_gamma_poisson(double count, double mean, double shape);

// The number of trials of a batch: a Poisson variable with the planned size as its mean. The counts of cells are then
// exactly independent Poisson variables, as every table e-value of this folder requires.
//
//   lambda     mean     planned size, an integer
//   r_k                 pmf(k) / pmf(lambda): r_{k+1} = r_k (lambda / (k + 1)), r_{k-1} = r_k (k / lambda)
//   m_k        mass     floor(r_k s), s = 2^62 / (3 (sqrt(lambda) + 1)); their sum is below 2^62
//
// A random 62-bit number below the sum of all m_k selects k with probability proportional to m_k. Larger numbers, at
// most 55 %, are rejected and drawn again. Rounded operations are IEEE 754 products, quotients and one square root, so
// every platform draws the same numbers.
//
// Cost: two passes over 20 sqrt(lambda) masses, 15 ms at 2^31; no tables.
//
// Error, derived: with u = 2^-53, m_k is positive only for |k - lambda| <= J = 10 sqrt(lambda) + 40
// (Bernstein). There r_k has at most 2 J roundings, and floor only decreases it. The sampled distribution is
// therefore at most
//   (1 + epsilon) pmf(k),    epsilon = 4 J u + 2 J 2^-60 + 2^-55     (2.1e-10 at lambda = 2^31)
// for every k. An event of probability alpha under Poisson batches has probability at most alpha times the
// product of (1 + epsilon) over batches. Batches that double up to 2^32 trials multiply false-alarm levels by
// at most 1 + 1e-9; there is no additive term. The total variation from Poisson is at most epsilon.

/// Largest mean that poisson_count accepts. For larger means a pass takes more than half a second and epsilon exceeds
/// 1e-9.
inline constexpr std::uint64_t largest_poisson_mean = std::uint64_t{1} << 36;

/// Calls visit(k, m_k) for k = lambda, lambda + 1, .. and then for lambda - 1, .. while masses are positive. A visit
/// that returns false ends the enumeration. Requires mean > 0.
template <class Visit>
void for_each_poisson_mass(std::uint64_t mean, Visit&& visit) {
  const auto lambda = static_cast<double>(mean);
  const double scale = 0x1p62 / (3 * (std::sqrt(lambda) + 1));
  double ratio = 1;
  for (std::uint64_t k = mean; ratio * scale >= 1; ratio *= lambda / static_cast<double>(++k))
    if (!visit(k, static_cast<std::uint64_t>(ratio * scale))) return;
  ratio = 1;
  for (std::uint64_t k = mean; k > 0; --k) {
    ratio *= static_cast<double>(k) / lambda;
    if (ratio * scale < 1) return;
    if (!visit(k - 1, static_cast<std::uint64_t>(ratio * scale))) return;
  }
}

/// Returns a Poisson number of this mean, a function of (seed, batch) only. Its Philox counters are disjoint from the
/// counters of the draws of trials and of shared noise. Requires mean <= largest_poisson_mean.
std::uint64_t poisson_count(std::uint64_t mean, std::uint64_t seed, std::uint64_t batch);

// The e-value against events that occur too often: under the null, their count has a mean of at most a known bound.
//
//   X       count       occurrences over Poisson batches
//   E       bound       largest allowed mean, exposure times the largest probability
//   r                   1 + 1/2, 1 + 1/4, .. 1 + 2^-14: assumed factors of the excess
//
//   e = average over r of r^X exp(-(r - 1) E)
//
// Correctness: for every true mean mu <= E the expectation of r^X is exp((r - 1) mu), so every term has mean at most
// 1 and is a supermartingale over batches. Factors close to 1 detect small excesses: r - 1 near (X - E) / E is best.

/// Returns the natural log e.
inline double log_e_poisson_upper(std::uint64_t count, double bound) {
  std::array<double, 14> bets;
  double step = 1;
  for (double& bet : bets) {
    step /= 2;
    bet = static_cast<double>(count) * std::log1p(step) - step * bound;
  }
  return log_mean_exp(bets);
}

// The e-value against counts in cells that should be empty, for verifiers that declare a rounding budget. The
// impossible cells are pooled into one cell of mean at most E; only too large counts are evidence.
//
//   tau     budget      declared bound of the probability that a trial ends in an impossible cell
//   X       count       counts in such cells
//   E                   n tau, n the exposure
//   theta               2, 4, .., 1024: assumed factors of the excess
//
//   e = average over theta of theta^X exp(-(theta - 1) E)
//
// Correctness: as for log_e_poisson_upper(). This bet was designed for this project; published power figures do not
// cover it.
//
// Cost: ten terms.

/// Returns the natural log e.
inline double log_e_impossible_cells(std::uint64_t count, double exposure, double budget) {
  std::array<double, 10> bets;
  double theta = 1;
  for (double& bet : bets) {
    theta *= 2;
    bet = static_cast<double>(count) * std::log(theta) - (theta - 1) * exposure * budget;
  }
  return log_mean_exp(bets);
}

}  // namespace draftproof
