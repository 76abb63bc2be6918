// The average of numbers given by their logarithms. An average of e-values is an e-value, for any dependence.
//
//   l_i, w_i   logs, weights     weights are not negative and sum to 1
//   m          largest           max l_i; the terms exp(l_i - m) do not overflow, and the largest is 1
//
// An infinite l_i with w_i > 0 gives infinity: a proof exceeds any other evidence.
//
// Cost: one exp per number.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof {

/// Returns log of sum w_i exp(l_i).
inline double log_weighted_mean_exp(std::span<const double> logs, std::span<const double> weights) {
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < logs.size(); ++i)
    if (weights[i] > 0) largest = std::max(largest, logs[i]);
  if (std::isinf(largest)) return largest;
  NeumaierSum sum;
  for (std::size_t i = 0; i < logs.size(); ++i)
    if (weights[i] > 0) sum.add(weights[i] * std::exp(logs[i] - largest));
  return largest + std::log(sum.value());
}

/// Returns log of the mean of exp(l_i); `logs` is not empty.
inline double log_mean_exp(std::span<const double> logs) {
  const double largest = *std::max_element(logs.begin(), logs.end());
  if (std::isinf(largest)) return largest;
  NeumaierSum sum;
  for (const double value : logs) sum.add(std::exp(value - largest));
  return largest + std::log(sum.value() / static_cast<double>(logs.size()));
}

}  // namespace draftproof
