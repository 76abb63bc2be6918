// An exponential of rate 1 from one 64-bit word, by operations that IEEE 754 rounds correctly only. So host, device
// and every compiler give the same bits, which no libm promises.
//
//   t      (word + 1/2) / 2^64                uniform, inside (0, 1)
//   E      exponential(word)                  -ln(1 - t)
//   m, n   1 - t = m 2^-n                     m in [sqrt(1/2), sqrt(2)), or m = 1 - t and n = 0 for small t
//   s      (1 - m) / (1 + m)                  |s| < 0.1716; -ln m = 2 (s + s^3 / 3 + s^5 / 5 + ...)
//
// Cost: one division, a dozen fused multiply-adds, two doublings on average.
// Correctness: small E, which win races, come from small words and keep their relative accuracy, because 1 - m is
// then t itself. Relative error below 2^-49, in units of 2^-53:
//   small t    t 2, carried by s into 2.4; 2 - t and the division 2; the series past s^21, at most 0.0294^11 / 23 of
//              it, and its coefficients 0.1; the last operation 1: below 6
//   else       1 - t has 2 of itself; 1 - m is exact (Sterbenz); |ln m| <= 0.3466 has the 6 above, so 2.1 absolute;
//              n ln 2 has 0.21 n absolute and E >= 0.3466 max(1, n): (2 + 2.1) / 0.3466 + 1 + 1: below 14
#pragma once

#include <cmath>
#include <cstdint>

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof {

/// Between 2^-65 and 45.1. At least the uniform t, up to the error above; t >= (upper half of the word) / 2^32.
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
