// A term of the residual in float, for rows whose entries are floats or shorter: twice as many to a register as
// doubles, and no conversion of the entries. Host and device form it by the same two operations.
//
//   b          high + low        b rounded to float, and the rest, rounded again
//   x          above(p, q)       max(fma(-low, q, fma(-high, q, p)), 0)     float
//   b <= 2^100 fits()            for larger b terms are formed in double; the rule depends on b only
//
// Correctness: every rounding is relative to the remainder, not to p. With y = p - b q: |b - high| <= 2^-24 b and
// |b - high - low| <= 2^-48 b, so the inner operation gives (y + (b - high) q)(1 + e), the outer one adds
// -(b - high) q up to 2^-48 b q, and |x - y| <= 2^-23 |y| + 2^-47 b q up to higher orders, e and the outer rounding
// being at most 2^-24. Where y > 0, b q < p. Where y <= 0, x is at most 2^-47 b q - |y| (1 - 2^-23), so it is
// positive only if b q is p to 46 bits. Hence
//
//   sum of |x - y+|   <= 2^-23 F(b) + 2^-47 P      P the sum of p, 1 within its rounding
//   tv of x / sum x   <= 2^-23 + 2^-47 P / F(b)    from y+ / F(b), which is at most that sum over F(b)
//
// A token is drawn from the residual with probability F(b), so the output law moves by 2^-23 F(b) + 2^-47. That is no
// more than the errors of float entries, 2^-24 each, which make sums of rows miss 1 by up to 1e-7. Denormals add an
// absolute 2^-148, far below the unit of the integers. Nothing overflows, because b q <= 2^101 and x <= p.
#pragma once

#include <cmath>

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof {

/// The factor b of such terms.
class FloatFactor {
 public:
  DRAFTPROOF_DEVICE explicit FloatFactor(double b)
      : fits_{b <= most},
        high_{fits_ ? static_cast<float>(b) : 0.0f},
        low_{fits_ ? static_cast<float>(b - static_cast<double>(high_)) : 0.0f} {}

  /// Whether terms with this b are formed in float.
  DRAFTPROOF_DEVICE bool fits() const { return fits_; }
  DRAFTPROOF_DEVICE float high() const { return high_; }
  DRAFTPROOF_DEVICE float low() const { return low_; }

  /// (p - b q)+, if fits().
  DRAFTPROOF_DEVICE float above(float p, float q) const {
    const float left = std::fma(-low_, q, std::fma(-high_, q, p));
    return left > 0 ? left : 0.0f;
  }

 private:
  static constexpr double most = 0x1p100;

  bool fits_;
  float high_, low_;
};

}  // namespace draftproof
