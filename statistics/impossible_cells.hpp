// The e-value against counts in cells that should be empty, for verifiers that declare a rounding budget. The
// impossible cells are pooled into one cell of mean at most E; only too many counts are evidence.
//
//   tau     budget      declared bound of the probability that a trial ends in an impossible cell
//   X       count       counts in such cells
//   E                   n tau, n the exposure
//   theta               2, 4, .., 1024: assumed factor of the excess
//
//   e = average over theta of theta^X exp(-(theta - 1) E)
//
// Correctness: for every true mean mu <= E the expectation of theta^X is exp((theta - 1) mu), so each term has mean
// at most 1 and is a supermartingale over batches. This bet is a design rule of this project; published power figures
// do not cover it.
//
// Cost: ten terms.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <draftproof/statistics/log_mean_exp.hpp>

namespace draftproof {

/// Returns log e, natural.
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
