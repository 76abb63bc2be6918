// Sums of little mass, measured against themselves: a power of two by which weights are scaled before they become
// integers.
//
//   total     sum of the weights in units of 2^-60
//   scale     1 where the total is at least 2^-4; otherwise such that the scaled total is in [1, 2)
//
// Cost: nothing on ordinary sums; below 2^-4 one pass for the largest weight and one for the total.
// Correctness: the integers of V weights miss less than V 2^-60 of their sum, which is a share of V 2^-56 of a total
// above 2^-4 and of V 2^-60 of a scaled one: at most 4e-12 and 3e-13 at V = 262,144. A power of two changes no
// rounding. The scale depends on integers and on the largest weight alone, so it is the same for any order of
// summation.
#pragma once

#include <cmath>

#include <draftproof/sim/device/host_device.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>

namespace draftproof {

/// Totals from here on are their own measure.
inline constexpr Fixed small_total = Fixed{1} << 56;

/// The exponent of the least power of two above `value` > 0.
DRAFTPROOF_DEVICE inline int exponent_above(double value) { return std::ilogb(value) + 1; }

/// The scale of `size` weights with this largest one. `pass(scale)` returns the total of the scaled weights.
template <class Pass>
DRAFTPROOF_DEVICE double scale_of_small(int size, double largest, const Pass& pass) {
  if (!(largest > 0)) return 1;
  constexpr int most = 1000;  // the least numbers stay below 1
  int exponent = 2 - exponent_above(largest) - exponent_above(static_cast<double>(size));
  if (exponent > most) exponent = most;
  const double first = std::ldexp(1.0, exponent);
  const Fixed total = pass(first);
  if (total <= 0) return first;
  const int left = 1 - exponent_above(from_fixed(total));
  return std::ldexp(first, left > most - exponent ? most - exponent : left);
}

}  // namespace draftproof
