// Averages with less noise. Each sample carries controls with known means; the part of the outcome that the controls
// explain is subtracted. The coefficients of one half of the samples are applied to the other half, so the averages
// stay unbiased.
//
//   y       outcomes    the averaged quantities, one or several numbers a sample
//   z       controls    minus their known means
//   A, B    halves      samples of even and of odd number
//   beta_A              least-squares coefficients of y on z in half A
//
//   estimate = average over both halves of (y - beta z), with beta_B in A and beta_A in B
//
// Cost: d (d + 1) / 2 + d o products a sample for d controls and o outcomes; two solves of d^3 / 6.
//
// Correctness: for independent samples beta_B is independent of half A, so E[beta_B z] = E[beta_B] 0 there. The
// standard error is that of the residuals in each half; the estimates of the halves are correlated by O(1 / n^2)
// only. A control that others explain (indicators that sum to a constant) gets coefficient 0. Every choice is
// unbiased, so the cut, a pivot below 2^-36 of the control's sum of squares, affects the noise only.
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
  /// No samples yet; each will have `controls` controls and `outcomes` outcomes.
  ControlVariates(std::size_t controls, std::size_t outcomes);

  /// Adds one sample. Samples are numbered from 0 in the order of calls.
  void add(std::span<const double> outcomes, std::span<const double> controls);

  /// One estimate for each outcome. Requires at least two samples in each half.
  std::vector<ControlledEstimate> estimates() const;

 private:
  std::array<ControlSums, 2> halves_;
  std::size_t added_ = 0;
};

}  // namespace draftproof
