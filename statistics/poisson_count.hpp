// The number of trials of a batch, Poisson about its planned size. It makes the counts of cells independent Poisson
// variables, exactly, which is what every e-value in this room is computed from.
//
//   lambda     mean     planned size, an integer
//   r_k                 pmf(k) / pmf(lambda): r_{k+1} = r_k (lambda / (k + 1)), r_{k-1} = r_k (k / lambda)
//   m_k        mass     floor(r_k s), s = 2^62 / (3 (sqrt(lambda) + 1)); their sum is below 2^62
//
// A 62-bit word below the sum of all m_k picks k by m_k; others, 55 % at most, are thrown away. Only IEEE
// products, quotients and one square root are rounded, so every platform draws the same numbers. Cost: two walks over
// 20 sqrt(lambda) masses, 15 ms at 2^31; no tables.
//
// What the roundings cost, derived. With u = 2^-53, m_k is positive for |k - lambda| <= J = 10 sqrt(lambda) + 40 at
// most (Bernstein), where r_k has met at most 2 J roundings; floor only lowers. So the law drawn from is nowhere
// above
//   (1 + epsilon) pmf(k),    epsilon = 4 J u + 2 J 2^-60 + 2^-55     (2.1e-10 at lambda = 2^31)
// and an event of probability alpha for Poisson batches has at most alpha times the product of (1 + epsilon) over
// batches. Batches that double up to 2^32 trials multiply false-alarm levels by 1 + 1e-9 at most; nothing is added.
// Total variation from Poisson: at most epsilon.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include <draftproof/statistics/log_mean_exp.hpp>

namespace draftproof {

/// Largest mean: beyond it a walk takes half a second and epsilon exceeds 1e-9.
inline constexpr std::uint64_t largest_poisson_mean = std::uint64_t{1} << 36;

/// Calls visit(k, m_k) for k = lambda, lambda + 1, .. and then for lambda - 1, .. while masses are positive; stops
/// when it returns false. lambda > 0.
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

/// One Poisson number of this mean <= largest_poisson_mean: a function of (seed, batch) alone, by Philox counters of
/// its own that no role and no shared noise reads.
std::uint64_t poisson_count(std::uint64_t mean, std::uint64_t seed, std::uint64_t batch);

/// The epsilon above.
double poisson_count_excess(std::uint64_t mean);

// The bet that something happens more often than it may: a count whose mean is at most a known bound.
//
//   X       count       of the event over Poisson batches
//   E       bound       largest mean it may have, exposure times the largest probability
//   r                   1 + 1/2, 1 + 1/4, .. 1 + 2^-14: how many times too often
//
//   e = average over r of r^X exp(-(r - 1) E)
//
// For every true mean mu <= E the expectation of r^X is exp((r - 1) mu), so every term has mean at most 1 and stays a
// supermartingale over batches. Small steps above 1 see small excesses: r - 1 near (X - E) / E bets best.

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
