// Sums in double with compensated rounding errors, and the power of two that scales weights with a small sum.
//
// A running sum in double with Neumaier's compensation.
//
//   s, r     total_, lost_     rounded total, and the sum of its rounding errors
//
// Cost: six additions for each term.
// Correctness: the error is at most one rounding of the result plus n^2 u^2 sum |x|, below 2e-20 sum |x| for a million
// terms (u = 2^-53), for every order and all signs.
// Source: Neumaier, Z. angew. Math. Mech. 54, 1974.
#pragma once

#include <cmath>
#include <span>

#include <draftproof/sim/device/host_device.hpp>
#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>

namespace draftproof {

class NeumaierSum {
 public:
  void add(double term) {
    const double sum = total_ + term;
    lost_ += std::abs(total_) >= std::abs(term) ? (total_ - sum) + term : (term - sum) + total_;
    total_ = sum;
  }
  double value() const { return total_ + lost_; }

 private:
  double total_ = 0, lost_ = 0;
};

/// Returns the compensated sum of `terms`.
inline double compensated_sum(std::span<const double> terms) {
  NeumaierSum sum;
  for (const double term : terms) sum.add(term);
  return sum.value();
}

// The power of two by which weights with a small sum are multiplied before they are truncated to integers, so that the
// error by truncation is small relative to the sum.
//
//   total     sum of the weights in units of 2^-60
//   scale     1 if the total is at least 2^-4; otherwise a power of two that brings the scaled total into [1, 2)
//
// Cost: for totals below 2^-4 two more passes, for the largest weight and for the total.
// Correctness: truncation takes less than V 2^-60 from the sum of V weights. The relative error is then at most V 2^-56
// for a total of 2^-4 or more and V 2^-60 for a scaled total: 4e-12 and 3e-13 at V = 262,144. A product with a power of
// two is exact. The scale depends on integers and on the largest weight alone, so it is the same for any order of
// summation.

/// The least total that is not scaled, 2^-4 in units of 2^-60.
inline constexpr Fixed small_total = Fixed{1} << 56;

/// Returns the exponent of the least power of two above `value` > 0.
DRAFTPROOF_DEVICE inline int exponent_above(double value) { return std::ilogb(value) + 1; }

/// Returns the scale of `size` weights whose maximum is `largest`. `pass(scale)` returns the total of the weights
/// multiplied by `scale`.
template <class Pass>
DRAFTPROOF_DEVICE double scale_of_small(int size, double largest, const Pass& pass) {
  if (!(largest > 0)) return 1;
  constexpr int most = 1000;  // keeps 2^exponent finite, and the least doubles below 1 when scaled
  int exponent = 2 - exponent_above(largest) - exponent_above(static_cast<double>(size));
  if (exponent > most) exponent = most;
  const double first = std::ldexp(1.0, exponent);
  const Fixed total = pass(first);
  if (total <= 0) return first;
  const int left = 1 - exponent_above(from_fixed(total));
  return std::ldexp(first, left > most - exponent ? most - exponent : left);
}

}  // namespace draftproof
