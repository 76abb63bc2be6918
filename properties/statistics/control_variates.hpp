// Averages with less noise. Each sample has controls with known means. A regression of the outcome on the controls
// gives the part of the outcome that they explain, and this part is subtracted. The coefficients of one half of the
// samples are applied to the other half, so the averages stay unbiased.
//
//   y       outcomes    the averaged quantities, one or several numbers per sample
//   z       controls    minus their known means
//   A, B    halves      samples of even and of odd number
//   beta_A              least-squares coefficients of y on z in half A
//
//   estimate = average over both halves of (y - beta z), with beta_B in A and beta_A in B
//
// Cost: d (d + 1) / 2 + d o products per sample for d controls and o outcomes; two solves of d^3 / 6.
//
// Correctness: for independent samples beta_B is independent of half A, so E[beta_B z] = E[beta_B] E[z] = 0
// there. The standard error is computed from the residuals in each half; the estimates of the halves are
// correlated by O(1 / n^2) only. A control that depends linearly on others (indicators that sum to a constant)
// gets coefficient 0. Every choice is unbiased, so the threshold, a pivot below 2^-36 of the control's sum of
// squares, affects the noise only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace draftproof {

// Sums over samples of outcomes, controls and their products, from which the least-squares coefficients of control
// variates are computed. Partial sums merged in a fixed order do not depend on threads.
//
//   y      outcome       sum of each outcome; outcome_square its square
//   z      control       sum of each control
//   Z'Z    gram          d x d, lower triangle
//   Y'Z    cross         o x d
//
// Cost: d (d + 1) / 2 + d o products for a dense sample; for a sparse sample d is the number of its non-zero
// controls. The coefficients take d^3 / 6. They are solved from sums centred at the sample means, so known means may
// be subtracted before or after.

/// A non-zero control.
struct Control {
  std::size_t index;
  double value;
};

struct ControlSums {
  /// Empty sums for d = `controls` controls and o = `outcomes` outcomes.
  ControlSums(std::size_t controls, std::size_t outcomes);

  /// Adds one sample: o outcomes and d controls.
  void add(std::span<const double> outcomes, std::span<const double> controls);
  /// Adds one sample with sparse controls, in ascending order of index; controls not listed are zero.
  void add(std::span<const double> outcomes, std::span<const Control> controls);
  /// Adds the sums of other samples.
  ControlSums& operator+=(const ControlSums& other);

  /// Returns the sums with squares and products taken about the sample means.
  ControlSums centred() const;
  /// Returns o x d least-squares coefficients of outcomes on controls. A control gets 0 if it depends linearly
  /// on earlier ones, i.e. if its pivot is below 2^-36 of its diagonal.
  std::vector<double> coefficients() const;

  double samples = 0;
  std::vector<double> control, outcome, outcome_square, gram, cross;

 private:
  void add_outcomes(std::span<const double> outcomes);
};

struct ControlledEstimate {
  double mean, standard_error;
};

class ControlVariates {
 public:
  /// Requires that each sample has `controls` controls and `outcomes` outcomes.
  ControlVariates(std::size_t controls, std::size_t outcomes);

  /// Adds one sample. Samples are numbered from 0 in the order of calls.
  void add(std::span<const double> outcomes, std::span<const double> controls);

  /// Returns one estimate for each outcome. Requires at least two samples in each half.
  std::vector<ControlledEstimate> estimates() const;

 private:
  std::array<ControlSums, 2> halves_;
  std::size_t added_ = 0;
};

}  // namespace draftproof
