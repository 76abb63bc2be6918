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
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include <draftproof/statistics/log_mean_exp.hpp>

namespace draftproof {

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
