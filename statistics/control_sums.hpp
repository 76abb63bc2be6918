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
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace draftproof {

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

  /// The same sums, with squares and products taken about the sample means.
  ControlSums centred() const;
  /// o x d least-squares coefficients of outcomes on controls. A control gets 0 if earlier controls explain it: its
  /// pivot is then below 2^-36 of its diagonal.
  std::vector<double> coefficients() const;

  double samples = 0;
  std::vector<double> control, outcome, outcome_square, gram, cross;

 private:
  void add_outcomes(std::span<const double> outcomes);
};

}  // namespace draftproof
