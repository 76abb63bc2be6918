// Number formats of 16 bits, and the residual of rows whose entries are floats or 16-bit numbers.
//
// Numbers of 16 bits as engines store rows and logits: a sign, `exponent_bits` bits of exponent and a fraction in the
// remaining bits, laid out and rounded as IEEE 754 prescribes for any binary format. The formats are for storage only:
// numbers are widened before any computation.
//
//   E        exponent_bits       bits of the exponent field
//   F        fraction_bits       15 - E
//   bias     2^(E-1) - 1         of the exponent; the least normal number is 2^(1 - bias)
//
// Cost: widening is a shift and an exact addition to the exponent; narrowing, which only tests and writers of such rows
// use, is a dozen integer operations.
// Correctness: float contains every number of both formats, so widening is exact. The quantum of a format near v is
// 2^(e - F), with e the exponent of v or of the least normal number, whichever is larger; narrowing is one division
// of integers by a power of two, ties to even.
#pragma once

#include <cmath>
#include <cstdint>

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof {

template <int exponent_bits>
class ShortFloat {
 public:
  static constexpr int fraction_bits = 15 - exponent_bits;
  static constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  static constexpr std::uint16_t infinity = ((1 << exponent_bits) - 1) << fraction_bits;

  ShortFloat() = default;
  /// Rounds to the nearest number of the format, ties to even. Numbers beyond the format's range become infinite.
  DRAFTPROOF_DEVICE explicit constexpr ShortFloat(double value) : bits_{narrowed(value)} {}

  /// Returns the number with these bits.
  DRAFTPROOF_DEVICE static constexpr ShortFloat of_bits(std::uint16_t bits) {
    ShortFloat result{};
    result.bits_ = bits;
    return result;
  }
  DRAFTPROOF_DEVICE constexpr std::uint16_t bits() const { return bits_; }

  /// Returns this number as a float, exactly; a NaN becomes a NaN, on the host a quiet NaN.
  DRAFTPROOF_DEVICE constexpr operator float() const {
#if defined(__CUDA_ARCH__)
    if (!__builtin_is_constant_evaluated()) {
      if constexpr (bias == 127) return bit_cast<float>(std::uint32_t{bits_} << 16);
      float value;
      asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits_));
      return value;
    }
#endif
    const std::uint32_t sign = std::uint32_t{bits_} >> 15 << 31;
    const std::uint32_t magnitude = bits_ & 0x7FFFu;
    const std::uint32_t in_place = magnitude << (23 - fraction_bits);
    if (magnitude >= infinity)
      return bit_cast<float>(sign | in_place | 0x7F800000u | (magnitude > infinity ? 0x00400000u : 0u));
    if constexpr (bias == 127) {
      return bit_cast<float>(sign | in_place);
    } else {
      // Numbers below the least normal number are multiples of 2^(1 - bias - F), which are normal floats.
      constexpr float quantum = bit_cast<float>(std::uint32_t{127 + 1 - bias - fraction_bits} << 23);
      if (magnitude >> fraction_bits == 0) {
        const float value = static_cast<float>(magnitude) * quantum;
        return sign == 0 ? value : -value;
      }
      return bit_cast<float>(sign | (in_place + (std::uint32_t{127 - bias} << 23)));
    }
  }

 private:
  DRAFTPROOF_DEVICE static constexpr std::uint16_t narrowed(double value) {
    const auto bits = bit_cast<std::uint64_t>(value);
    const auto sign = static_cast<std::uint16_t>(bits >> 63 << 15);
    const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
    constexpr std::uint64_t double_infinity = std::uint64_t{2047} << 52;
    constexpr std::uint16_t quiet = 1 << (fraction_bits - 1);
    if (magnitude > double_infinity) return static_cast<std::uint16_t>(sign | infinity | quiet);
    const int exponent = static_cast<int>(magnitude >> 52) - 1023;
    const int quantised = exponent < 1 - bias ? 1 - bias : exponent;  // gives the quantum of the result
    const int drop = 52 - fraction_bits + quantised - exponent;
    if (drop > 53) return sign;  // below half of the least quantum, as all denormal doubles are
    const std::uint64_t significand = (std::uint64_t{1} << 52) | (magnitude & ((std::uint64_t{1} << 52) - 1));
    const std::uint64_t kept = significand >> drop, lost = significand & ((std::uint64_t{1} << drop) - 1);
    const std::uint64_t half = std::uint64_t{1} << (drop - 1);
    const std::uint64_t rounded = kept + (lost > half || (lost == half && kept % 2 == 1));
    // `field` is one less than the exponent field of a normal number. The leading bit of the significand, which is
    // added to `field`, adds the missing 1. If rounding makes a denormal number normal, the carry sets the exponent
    // field to 1.
    const auto field = static_cast<std::uint64_t>(quantised - (1 - bias)) << fraction_bits;
    const std::uint64_t result = field + rounded;
    return static_cast<std::uint16_t>(sign | (result < infinity ? result : infinity));
  }

  std::uint16_t bits_;
};

// bfloat16, the upper half of a float: its exponent and 8 significant bits. Most engines compute logits in this
// format.
//
//   u    2^-8    rounding changes a normal number by at most u of itself
//
// Cost: widening is a shift.
// Correctness: widening is exact, because the float has the same bits and zeros after them.

using Bfloat16 = ShortFloat<8>;

static_assert(sizeof(Bfloat16) == 2 && Bfloat16::fraction_bits == 7 && Bfloat16::bias == 127);

// IEEE 754 binary16: 11 significant bits and a short exponent.
//
//   u        2^-11    rounding changes a normal number by at most u of itself
//   2^-14             least normal number: most probabilities of a large vocabulary lie below it
//   2^-24             least positive number; rounding changes a denormal entry by up to half of it, 2^-25
//   65504             largest finite number: logits fit, masks of -1e9 become -infinity
//
// Cost: widening is a few integer operations, or one instruction of the processor.
// Correctness: float has the wider exponent, so a denormal of this format is a normal float.

using Half = ShortFloat<5>;

static_assert(sizeof(Half) == 2 && Half::fraction_bits == 10 && Half::bias == 15);

// A term of the residual in float, for rows whose entries are floats or 16-bit numbers. Float is faster than double,
// because a register holds twice as many floats as doubles, and entries are not converted to double. Host and device
// compute a term by the same two operations (fma), so they get the same bits.
//
//   b          high + low        b rounded to float, and the rest rounded to float
//   x          above(p, q)       max(fma(-low, q, fma(-high, q, p)), 0)     float
//   b <= 2^100 fits()            for larger b terms are computed in double; the choice depends on b only
//
// Correctness: every rounding is relative to the remainder, not to p. With y = p - b q: |b - high| <= 2^-24 b and
// |b - high - low| <= 2^-48 b, so the inner operation gives (y + (b - high) q)(1 + e), the outer one adds
// -(b - high) q up to 2^-48 b q, and |x - y| <= 2^-23 |y| + 2^-47 b q up to higher orders, e and the outer rounding
// being at most 2^-24. Where y > 0, b q < p. Where y <= 0, x is at most 2^-47 b q - |y| (1 - 2^-23), so it is
// positive only if b q is p to 46 bits. Hence
//
//   sum of |x - y+|   <= 2^-23 F(b) + 2^-47 P      P the sum of p, 1 within its rounding
//   tv of x / sum x   <= 2^-23 + 2^-47 P / F(b)    total variation from y+ / F(b), at most the first line over F(b)
//
// A token is drawn from the residual with probability F(b), so the output distribution moves by 2^-23 F(b) + 2^-47.
// This is no more than the effect of the errors of float entries, 2^-24 each, which make sums of rows differ from 1 by
// up to 1e-7. Denormals add an absolute error of 2^-148, far below 2^-60, the unit to which terms are truncated. No
// operation overflows, because b q <= 2^101 and x <= p.

/// The factor b of residual terms, split into two floats.
class FloatFactor {
 public:
  DRAFTPROOF_DEVICE explicit FloatFactor(double b)
      : fits_{b <= most},
        high_{fits_ ? static_cast<float>(b) : 0.0f},
        low_{fits_ ? static_cast<float>(b - static_cast<double>(high_)) : 0.0f} {}

  /// Whether terms with this b may be computed in float.
  DRAFTPROOF_DEVICE bool fits() const { return fits_; }
  DRAFTPROOF_DEVICE float high() const { return high_; }
  DRAFTPROOF_DEVICE float low() const { return low_; }

  /// Returns (p - b q)+. Requires fits().
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
