// e^x for x <= 0 in single precision, computed only by operations for which IEEE 754 requires correct rounding. So
// host, device, every compiler and every register width (softmax.hpp) give the same bits, which no libm guarantees.
//
//   n     x / ln 2 to the nearest integer     -126 .. 0
//   r     x - n ln 2                          |r| < 0.34658; ln 2 in two parts; n times the first is exact
//   e^x   2^n (1 + r + r^2 (c2 + c3 r + c4 r^2 + c5 r^3 + c6 r^4))
//
// Cost: nine fused multiply-adds, one branch at the end of the range.
// Correctness: relative error below 2^-23 for x >= -87, in units of 2^-24:
//   last operation            1, and 0.7 where the polynomial is below 1
//   operations before it      0.25 + 0.09 + 0.02: a rounding at size 1, 1/2, 1/6 after r, r^2, r^3
//   r                         its second subtraction rounds below 2^-26: 0.25; the parts of ln 2 leave below 0.001
//   polynomial                2^-28.2, minimax with its coefficients rounded one after another: 0.06
// The sum is less than 1.7. Below -87, where e^x < 1.7e-38 approaches the least normal float, the result is 0. For x =
// 0 the result is 1, and no result exceeds 1.
#pragma once

#include <cmath>
#include <cstdint>

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof {

/// Constants of exp_nonpositive() and of its SIMD form (softmax.hpp).
struct PowerOfE {
  static constexpr float least = -87;
  static constexpr float per_ln2 = 0x1.715476p+0f;
  static constexpr float ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f;
  /// 1.5 2^23. The last bit of a float of this size has the value 1, so adding this number to x rounds x to an integer,
  /// which is then in the low bits of the sum.
  static constexpr float to_integer = 0x1.8p+23f;
  static constexpr float c2 = 0x1.fffffcp-2f, c3 = 0x1.555494p-3f, c4 = 0x1.5558bep-5f, c5 = 0x1.123858p-7f,
                         c6 = 0x1.6a3d16p-10f;
};

/// Returns e^x for x <= 0, -infinity included; 0 for a NaN.
DRAFTPROOF_DEVICE inline float exp_nonpositive(float x) {
  using E = PowerOfE;
  if (!(x >= E::least)) return 0;
  const float shifted = std::fma(x, E::per_ln2, E::to_integer), n = shifted - E::to_integer;
  const float r = std::fma(n, -E::ln2_low, std::fma(n, -E::ln2_high, x));
  float power = std::fma(E::c6, r, E::c5);
  power = std::fma(power, r, E::c4);
  power = std::fma(power, r, E::c3);
  power = std::fma(power, r, E::c2);
  power = std::fma(power, r, 1.0f);
  power = std::fma(power, r, 1.0f);
  // The low bits of `shifted` are n. The left shift drops the other bits of `shifted`, so the sum has n added to the
  // exponent of `power`.
  return bit_cast<float>(bit_cast<std::uint32_t>(power) + (bit_cast<std::uint32_t>(shifted) << 23));
}

// An exponential variable of rate 1 from 64 random bits, computed only by operations for which IEEE 754 requires
// correct rounding. So host, device and every compiler give the same bits, which no libm guarantees.
//
//   t      (word + 1/2) / 2^64                uniform, inside (0, 1)
//   E      exponential(word)                  -ln(1 - t)
//   m, n   1 - t = m 2^-n                     m in [sqrt(1/2), sqrt(2)), or m = 1 - t and n = 0 for small t
//   s      (1 - m) / (1 + m)                  |s| < 0.1716; -ln m = 2 (s + s^3 / 3 + s^5 / 5 + ...)
//
// Cost: one division, a dozen fused multiply-adds, two doublings on average.
// Correctness: small E, which win races (the smallest of several E), come from small `word` and are accurate relative
// to their size, because m = 1 - t then, so 1 - m is t itself without a rounding. Relative error below 2^-49, in units
// of 2^-53:
//   small t    2 of t, which are 2.4 of s; 2 of 2 - t and the division; 0.1 of the coefficients and of the series,
//              whose terms after s^21, at most 0.0294^11 / 23 of it, are left out; 1 of the last operation: below 6
//   else       2 of 1 - t; 1 - m is exact (Sterbenz); 6 of |ln m| <= 0.3466 as above, which is 2.1 absolute; 0.21 n
//              absolute of n ln 2; E >= 0.3466 max(1, n): (2 + 2.1) / 0.3466 + 1 + 1: below 14

/// Returns E, between 2^-65 and 45.1. E >= t up to the error above, and t >= (upper half of `word`) / 2^32.
DRAFTPROOF_DEVICE inline double exponential(std::uint64_t word) {
  constexpr std::uint64_t small = 0x4AFB0CCC06219B7B;  // 2^64 (1 - sqrt(1/2))
  constexpr double root_half = 0.7071067811865476, ln2 = 0.6931471805599453;
  int halvings = 0;
  double missing;  // 1 - m
  if (word < small) {
    missing = (static_cast<double>(word) + 0.5) * 0x1p-64;
  } else {
    double m = (static_cast<double>(~word) + 0.5) * 0x1p-64;
    for (; m < root_half; m += m) ++halvings;
    missing = 1 - m;
  }
  const double s = missing / (2 - missing), z = s * s;
  constexpr double coefficients[] = {1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
                                     1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};
  double series = 1.0 / 21;
  for (const double coefficient : coefficients) series = std::fma(series, z, coefficient);
  const double minus_ln_m = std::fma(series * z, 2 * s, 2 * s);
  return std::fma(static_cast<double>(halvings), ln2, minus_ln_m);
}

}  // namespace draftproof
