// The number of trials of a batch: a Poisson variable with the planned size as its mean. The counts of cells are then
// exactly independent Poisson variables, as every table e-value of this folder requires.
//
//   lambda     mean     planned size, an integer
//   r_k                 pmf(k) / pmf(lambda): r_{k+1} = r_k (lambda / (k + 1)), r_{k-1} = r_k (k / lambda)
//   m_k        mass     floor(r_k s), s = 2^62 / (3 (sqrt(lambda) + 1)); their sum is below 2^62
//
// A 62-bit number below the sum of all m_k picks k by m_k; larger ones, 55 % at most, are rejected. Only IEEE
// products, quotients and one square root are rounded, so every platform draws the same numbers.
//
// Cost: two passes over 20 sqrt(lambda) masses, 15 ms at 2^31; no tables.
//
// Error, derived: with u = 2^-53, m_k is positive only for |k - lambda| <= J = 10 sqrt(lambda) + 40 (Bernstein).
// There r_k has at most 2 J roundings, and floor only lowers. The sampled law is therefore at most
//   (1 + epsilon) pmf(k),    epsilon = 4 J u + 2 J 2^-60 + 2^-55     (2.1e-10 at lambda = 2^31)
// for every k. An event of probability alpha under Poisson batches has probability at most alpha times the product of
// (1 + epsilon) over batches. Batches that double up to 2^32 trials multiply false-alarm levels by at most 1 + 1e-9;
// there is no additive term. The total variation from Poisson is at most epsilon.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include <draftproof/statistics/log_mean_exp.hpp>

namespace draftproof {

/// Largest mean. Beyond it one pass takes half a second and epsilon exceeds 1e-9.
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

/// One Poisson number of this mean; a function of (seed, batch) alone. Its Philox counters are disjoint from those of
/// roles and of shared noise. Requires mean <= largest_poisson_mean.
std::uint64_t poisson_count(std::uint64_t mean, std::uint64_t seed, std::uint64_t batch);

/// The epsilon of the header comment.
double poisson_count_excess(std::uint64_t mean);

// The e-value against an event that is too frequent: a count whose mean is at most a known bound.
//
//   X       count       of the event over Poisson batches
//   E       bound       largest allowed mean, exposure times the largest probability
//   r                   1 + 1/2, 1 + 1/4, .. 1 + 2^-14: assumed factor of the excess
//
//   e = average over r of r^X exp(-(r - 1) E)
//
// Correctness: for every true mean mu <= E the expectation of r^X is exp((r - 1) mu), so every term has mean at most
// 1 and is a supermartingale over batches. Factors close to 1 detect small excesses: r - 1 near (X - E) / E is best.

/// Returns log e, natural.
inline double log_e_poisson_upper(std::uint64_t count, double bound) {
  std::array<double, 14> bets;
  double step = 1;
  for (double& bet : bets) {
    step /= 2;
    bet = static_cast<double>(count) * std::log1p(step) - step * bound;
  }
  return log_mean_exp(bets);
}

}  // namespace draftproof
