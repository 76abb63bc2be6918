// e^x for x <= 0 in single precision, by operations that IEEE 754 rounds correctly only. So host, device, every
// compiler and every register width (softmax_block.hpp) give the same bits, which no libm promises.
//
//   n     x / ln 2 to the nearest integer     -126 .. 0
//   r     x - n ln 2                          |r| < 0.34658; ln 2 in two parts, the first times n exact
//   e^x   2^n (1 + r + r^2 (c2 + c3 r + c4 r^2 + c5 r^3 + c6 r^4))
//
// Cost: nine fused multiply-adds, one branch at the end of the range.
// Correctness: relative error below 2^-23 for x >= -87, in units of 2^-24:
//   last operation            1, and 0.7 where the polynomial is below 1
//   the ones before it        0.25 + 0.09 + 0.02: a rounding at size 1, 1/2, 1/6 after r, r^2, r^3
//   r                         its second subtraction rounds below 2^-26: 0.25; the parts of ln 2 leave below 0.001
//   polynomial                2^-28.2, minimax with its coefficients rounded one after another: 0.06
// The sum is less than 1.7. Below -87, where e^x < 1.7e-38 approaches the least normal float, the result is 0; e^0 is
// 1, and no result exceeds 1.
#pragma once

#include <cmath>
#include <cstdint>

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof {

/// Constants of the scalar and the wide forms.
struct PowerOfE {
  static constexpr float least = -87;
  static constexpr float per_ln2 = 0x1.715476p+0f;
  static constexpr float ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f;
  /// At 1.5 2^23 the last bit of a float is worth 1: an addition rounds to an integer and leaves it in the low bits.
  static constexpr float to_integer = 0x1.8p+23f;
  static constexpr float c2 = 0x1.fffffcp-2f, c3 = 0x1.555494p-3f, c4 = 0x1.5558bep-5f, c5 = 0x1.123858p-7f,
                         c6 = 0x1.6a3d16p-10f;
};

/// e^x for x <= 0, -infinity included; 0 for a NaN.
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
  // The low bits of `shifted` are n; the shift drops its other bits. This adds n to the exponent of the power.
  return bit_cast<float>(bit_cast<std::uint32_t>(power) + (bit_cast<std::uint32_t>(shifted) << 23));
}

}  // namespace draftproof
