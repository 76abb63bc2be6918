// Averages with less noise: each sample also carries quantities whose means are known, and what of the outcome they
// explain is subtracted. Coefficients come from one half of the samples and serve the other, so averages stay
// unbiased.
//
//   y       outcomes    what is averaged, one or several numbers a sample
//   z       controls    minus their known means
//   A, B    halves      samples of even and of odd number
//   beta_A              least-squares coefficients of y on z in half A
//
//   estimate = average over both halves of (y - beta z), with beta_B in A and beta_A in B
//
// Cost: d (d + 1) / 2 + d o products a sample for d controls and o outcomes; two solves of d^3 / 6.
//
// Unbiased for independent samples: beta_B is independent of half A, so E[beta_B z] = E[beta_B] 0 there. The standard
// error is that of the residuals in each half; the halves' estimates are correlated by O(1 / n^2) only. Controls that
// others explain (indicators that sum to a constant) get no coefficient: any choice is unbiased, so the cut, a pivot
// below 2^-36 of the control's sum of squares, decides about noise alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <draftproof/statistics/control_sums.hpp>

namespace draftproof {

struct ControlledEstimate {
  double mean, standard_error;
};

class ControlVariates {
 public:
  ControlVariates(std::size_t controls, std::size_t outcomes);

  /// One sample. Numbers of samples count from 0 in the order of calls.
  void add(std::span<const double> outcomes, std::span<const double> controls);

  /// One estimate an outcome; at least two samples in each half.
  std::vector<ControlledEstimate> estimates() const;

 private:
  std::array<ControlSums, 2> halves_;
  std::size_t added_ = 0;
};

}  // namespace draftproof
