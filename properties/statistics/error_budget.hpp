// Splits the false-alarm probability of a whole build among its gates.
//
//   alpha        total         probability that any gate of an all-correct build raises an alarm, 1e-9
//   w_i          weights       positive; gate i may alarm with probability alpha w_i / sum w
//   1e-3         numerics      bound of the error of the computed log e; added to each threshold
//
// With equal weights and M gates the threshold of e is 1e9 M.
//
// Correctness: by the union bound, for any dependence between gates. The quotients are rounded: their sum
// exceeds alpha by at most a relative M 2^-52.
#pragma once

#include <cassert>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

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
  /// Returns equal weights for `gates` gates.
  static ErrorBudget even(std::size_t gates, double total = default_total) {
    return ErrorBudget(std::vector<double>(gates, 1.0), total);
  }

  /// Returns the probability with which this gate may raise a false alarm.
  double alpha(std::size_t gate) const { return total_ * (weights_[gate] / sum_); }
  /// Returns the value of log e at which the gate raises an alarm.
  double log_threshold(std::size_t gate) const { return log_threshold_at(alpha(gate)); }
  /// Returns the value of log e at which a gate with false-alarm probability `alpha` raises an alarm.
  static double log_threshold_at(double alpha) { return numerics - std::log(alpha); }

 private:
  std::vector<double> weights_;
  double sum_, total_;
};

}  // namespace draftproof
