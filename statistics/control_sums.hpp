// Sums over samples of outcomes, controls and their products: what least-squares coefficients of control variates are
// computed from. Added over parts of the samples in a fixed order they do not depend on threads.
//
//   y      outcome       sum of each outcome; outcome_square its square
//   z      control       sum of each control
//   Z'Z    gram          d x d, lower triangle
//   Y'Z    cross         o x d
//
// Cost: d (d + 1) / 2 + d o products a dense sample, the same with the number of its non-zero controls a sparse one;
// coefficients d^3 / 6. Sums are centred at the samples' own means before they are solved, so that known means may be
// subtracted before or after.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace draftproof {

/// A control that is not zero.
struct Control {
  std::size_t index;
  double value;
};

struct ControlSums {
  ControlSums(std::size_t controls, std::size_t outcomes);

  void add(std::span<const double> outcomes, std::span<const double> controls);
  /// Controls in ascending order; those that are not listed are zero.
  void add(std::span<const double> outcomes, std::span<const Control> controls);
  ControlSums& operator+=(const ControlSums& other);

  /// The same with sums of squares and products about the means.
  ControlSums centred() const;
  /// o x d least-squares coefficients of outcomes on controls. Controls that earlier ones explain, to a pivot below
  /// 2^-36 of their diagonal, get 0.
  std::vector<double> coefficients() const;

  double samples = 0;
  std::vector<double> control, outcome, outcome_square, gram, cross;

 private:
  void add_outcomes(std::span<const double> outcomes);
};

}  // namespace draftproof
