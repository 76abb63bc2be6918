// Splits the false-alarm probability of a whole build among its gates, and averages e-values given by their
// logarithms.
//
//   alpha        total         probability that any gate of an all-correct build alarms, 1e-9
//   w_i          weights       positive; gate i may alarm with probability alpha w_i / sum w
//   1e-3         numerics      log e is computed with less error than this, which is added to each threshold
//
// With equal weights and M gates the threshold of e is 1e9 M.
//
// Correctness: by the union bound, whatever the dependence between gates. The quotients are rounded: their sum
// exceeds alpha by at most M 2^-52 relative.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof {

class ErrorBudget {
 public:
  static constexpr double default_total = 1e-9;
  static constexpr double numerics = 1e-3;

  /// `weights`: one positive number for each gate; 0 < total < 1.
  explicit ErrorBudget(std::vector<double> weights, double total = default_total)
      : weights_{std::move(weights)}, sum_{std::accumulate(weights_.begin(), weights_.end(), 0.0)}, total_{total} {
    assert(sum_ > 0 && total > 0 && total < 1);
  }
  /// Equal weights for `gates` gates.
  static ErrorBudget even(std::size_t gates, double total = default_total) {
    return ErrorBudget(std::vector<double>(gates, 1.0), total);
  }

  /// Probability with which this gate may raise a false alarm.
  double alpha(std::size_t gate) const { return total_ * (weights_[gate] / sum_); }
  /// A gate alarms when log e reaches this value.
  double log_threshold(std::size_t gate) const { return log_threshold_at(alpha(gate)); }
  /// The same for a gate that may raise a false alarm with probability `alpha`.
  static double log_threshold_at(double alpha) { return numerics - std::log(alpha); }

 private:
  std::vector<double> weights_;
  double sum_, total_;
};

// The average of numbers given by their logarithms. Averages of e-values are e-values, whatever their dependence.
//
//   l_i, w_i   logs, weights     weights are not negative and sum to 1
//   m          largest           max l_i; the terms exp(l_i - m) do not overflow, and the largest is 1
//
// An infinite l_i with w_i > 0 gives infinity: a proof outweighs any other evidence.
//
// Cost: one exp a number.

/// log of sum w_i exp(l_i).
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

/// log of the mean of exp(l_i); `logs` is not empty.
inline double log_mean_exp(std::span<const double> logs) {
  const double largest = *std::max_element(logs.begin(), logs.end());
  if (std::isinf(largest)) return largest;
  NeumaierSum sum;
  for (const double value : logs) sum.add(std::exp(value - largest));
  return largest + std::log(sum.value() / static_cast<double>(logs.size()));
}

}  // namespace draftproof
