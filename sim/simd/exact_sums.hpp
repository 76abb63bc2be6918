// Sums of doubles scaled by 2^60, each truncated to an integer. AVX2 has no conversion to 64-bit integers, so its
// DoubleSum adds two parts of each term:
//
//   x      add(x)     four scaled terms, 0 <= x < 2^63
//   high              sum of the multiples of 2^32 nearest to the terms
//   low               sum of the floors of the differences (rests)
//
// Correctness: a rest is exact and at most 2^31 in size. A multiple of 2^32 plus the floor of the rest is the floor
// of x. The sums of 1024 high or low parts are exact in a double.
#pragma once

#include <cstdint>

#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/simd/registers.hpp>

#if DRAFTPROOF_WIDE
namespace draftproof::simd {

// Exact sums of floats, each truncated to a multiple of 2^-60, without conversions to integers: three float
// accumulators (levels) take the bits of a term down to 2^-22, the bits down to 2^-41, and the bits down to 2^-60. A
// term takes six operations on sixteen lanes; conversions to 64-bit integers would take eight, without the additions.
//
//   s_1, s_2, s_3   levels      start at 2, 2^-18, 2^-37 and stay below twice that: units u = 2^-22, 2^-41, 2^-60
//   s_i + x         add(x)      rounded down: s_i gains the multiple of u_i below x; the exact rest goes to s_(i+1)
//                               (in 512 bits; AVX2 has no choice of rounding, see avx2::Levels)
//   total           total()     the number of units that each level gained, read from the bits of its fraction
//
// The fused addition to the first level also scales the terms, so that the unit of a lower level is 1.
//
// Correctness: a level's unit stays the same, because no sum leaves its binade. Terms of one lane add up to less than
// 2, because the terms of the whole row do; `most` rests below u_1 = 2^-22 add up to less than 2^-18, and `most` rests
// below u_2 to less than 2^-37. A product with a power of two, and a rest, have no more bits than the term, so both are
// exact.

namespace avx2 {

struct FloatSum;

/// Eight lanes, in units of 2^-60. Additions round to nearest, so rests have either sign, and the lower levels start
/// at the middle of their binade. The last rest is rounded down to a multiple of 2^-60, so that the last level is
/// exact.
struct Levels {
  using Total = FloatSum;
  static constexpr std::size_t most = 16;
  Floats first, second, third;

  DRAFTPROOF_AVX2_PART static Levels zero() { return {all(0x1p61f), all(0x1.8p42f), all(0x1.8p23f)}; }
  DRAFTPROOF_AVX2_PART void add(Floats term) {
    const Floats scale = all(0x1p60f), high = fma(term, scale, first);
    const Floats rest = _mm256_fmsub_ps(term, scale, high - first), middle = second + rest;
    third += _mm256_floor_ps(rest - (middle - second));
    first = high;
    second = middle;
  }
  DRAFTPROOF_AVX2_PART void add_where_positive(Floats x, Floats term) {
    add(_mm256_and_ps(_mm256_cmp_ps(x, Floats{}, _CMP_GT_OQ), term));
  }
};

/// The sum that each level has gained so far, in units of the level, as a signed number modulo 2^32.
struct FloatSum {
  Words high, middle, low;

  DRAFTPROOF_AVX2_PART static FloatSum zero() { return {Words{}, Words{}, Words{}}; }
  DRAFTPROOF_AVX2_PART void fold(const Levels& a, const Levels& b) {
    const Levels start = Levels::zero();
    high += as<Words>(a.first) + as<Words>(b.first) - 2 * as<Words>(start.first);
    middle += as<Words>(a.second) + as<Words>(b.second) - 2 * as<Words>(start.second);
    low += as<Words>(a.third) + as<Words>(b.third) - 2 * as<Words>(start.third);
  }
  DRAFTPROOF_AVX2_PART Fixed total() const {
    std::int32_t units[3][floats];
    store(units[0], high);
    store(units[1], middle);
    store(units[2], low);
    Fixed sums[3] = {0, 0, 0};
    for (int level = 0; level < 3; ++level)
      for (const std::int32_t gain : units[level]) sums[level] += gain;
    return sums[0] * (Fixed{1} << 38) + sums[1] * (Fixed{1} << 19) + sums[2];
  }
};

/// The sum of four scaled terms, each rounded down to an integer.
struct DoubleSum {
  using Total = DoubleSum;
  static constexpr std::size_t most = 1024;
  Doubles high, low;

  DRAFTPROOF_AVX2_PART static DoubleSum zero() { return {Doubles{}, Doubles{}}; }
  DRAFTPROOF_AVX2_PART void add(Doubles scaled) {
    const Doubles shift = all(0x1.8p84);  // the last bit of a sum with this number is 2^32
    const Doubles top = scaled + shift - shift;
    high += top;
    low += _mm256_floor_pd(scaled - top);
  }
  DRAFTPROOF_AVX2_PART void add_where_positive(Doubles x, Doubles scaled) {
    add(_mm256_and_pd(_mm256_cmp_pd(x, Doubles{}, _CMP_GT_OQ), scaled));
  }
  template <class... Sums>
  DRAFTPROOF_AVX2_PART void fold(const Sums&... part) {
    high += (part.high + ...);
    low += (part.low + ...);
  }
  DRAFTPROOF_AVX2_PART Fixed total() const {
    double highs[doubles], lows[doubles];
    store(highs, high);
    store(lows, low);
    std::uint64_t sum = 0;  // unsigned, because high parts alone, rounded to nearest, may exceed 2^63
    for (std::size_t lane = 0; lane < doubles; ++lane)
      sum += (static_cast<std::uint64_t>(static_cast<Fixed>(highs[lane] * 0x1p-32)) << 32) +
             static_cast<std::uint64_t>(static_cast<Fixed>(lows[lane]));
    return static_cast<Fixed>(sum);
  }
};

}  // namespace avx2

namespace avx512 {

struct FloatSum;

/// Sixteen lanes, in units of 2^-41, for at most `most` additions. The rest of the second level is then the fraction
/// of a number, which one instruction (vreduceps) computes.
struct Levels {
  using Total = FloatSum;
  static constexpr std::size_t most = 16;
  static constexpr int down = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
  Floats first, second, third;

  DRAFTPROOF_AVX512_PART static Levels zero() { return {all(0x1p42f), all(0x1p23f), all(0x1p4f)}; }
  DRAFTPROOF_AVX512_PART void add(Floats term) {
    const Floats scale = all(0x1p41f), sum = _mm512_fmadd_round_ps(term, scale, first, down);
    const Floats rest = _mm512_fmsub_ps(term, scale, sum - first);
    first = sum;
    add_rest(rest);
  }
  DRAFTPROOF_AVX512_PART void add_where_positive(Floats x, Floats term) {
    const __mmask16 counts = _mm512_cmp_ps_mask(x, Floats{}, _CMP_GT_OQ);
    const Floats scale = all(0x1p41f), sum = _mm512_mask3_fmadd_round_ps(term, scale, first, counts, down);
    const Floats rest = _mm512_maskz_fmsub_ps(counts, term, scale, sum - first);
    first = sum;
    add_rest(rest);
  }

 private:
  DRAFTPROOF_AVX512_PART void add_rest(Floats rest) {
    second = _mm512_add_round_ps(second, rest, down);
    third = _mm512_add_round_ps(third, _mm512_reduce_ps(rest, down), down);
  }
};

/// The sums that four Levels have gained so far, in units of 2^-60.
struct FloatSum {
  Longs units;

  DRAFTPROOF_AVX512_PART static FloatSum zero() { return {Longs{}}; }
  DRAFTPROOF_AVX512_PART void fold(const Levels& a, const Levels& b, const Levels& c, const Levels& d) {
    const Levels start = Levels::zero();
    const Longs upper = (gained(a.first, b.first, c.first, d.first, start.first) << 19) +
                        gained(a.second, b.second, c.second, d.second, start.second);
    units += (upper << 19) + gained(a.third, b.third, c.third, d.third, start.third);
  }
  DRAFTPROOF_AVX512_PART Fixed total() const { return _mm512_reduce_add_epi64(as<__m512i>(units)); }

  /// Returns the sums that four accumulators of one level gained, in units of the level, in eight 64-bit lanes; each is
  /// below 2^23.
  DRAFTPROOF_AVX512_PART static Longs gained(Floats a, Floats b, Floats c, Floats d, Floats start) {
    const Words units = as<Words>(a) + as<Words>(b) + (as<Words>(c) + as<Words>(d)) - 4 * as<Words>(start);
    const auto bits = as<__m512i>(units);
    const __m256i halves = _mm256_add_epi32(_mm512_castsi512_si256(bits), _mm512_extracti64x4_epi64(bits, 1));
    return as<Longs>(_mm512_cvtepi32_epi64(halves));
  }
};

/// The sum of eight scaled doubles, each truncated to an integer.
struct DoubleSum {
  using Total = DoubleSum;
  static constexpr std::size_t most = 1024;
  Longs sum;

  DRAFTPROOF_AVX512_PART static DoubleSum zero() { return {Longs{}}; }
  DRAFTPROOF_AVX512_PART void add(Doubles scaled) { sum += as<Longs>(_mm512_cvttpd_epi64(scaled)); }
  DRAFTPROOF_AVX512_PART void add_where_positive(Doubles x, Doubles scaled) {
    const __mmask8 counts = _mm512_cmp_pd_mask(x, Doubles{}, _CMP_GT_OQ);
    sum += as<Longs>(_mm512_maskz_cvttpd_epi64(counts, scaled));
  }
  template <class... Sums>
  DRAFTPROOF_AVX512_PART void fold(const Sums&... part) {
    sum += (part.sum + ...);
  }
  DRAFTPROOF_AVX512_PART Fixed total() const { return _mm512_reduce_add_epi64(as<__m512i>(sum)); }
};

}  // namespace avx512
}  // namespace draftproof::simd
#endif
