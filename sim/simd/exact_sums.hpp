// Sums of doubles scaled by 2^60, each truncated to an integer, in 256-bit registers, which have no conversion to
// 64-bit integers.
//
//   x      add(x)     four scaled terms, 0 <= x < 2^63
//   high              multiples of 2^32 nearest to them, added up
//   low               floors of the rests, added up
//
// Right because a rest is exact and at most 2^31 in size, and a multiple of 2^32 plus the floor of the rest is the
// floor of x; 1024 of either add up exactly in a double.
#pragma once

#include <cstdint>

#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/simd/dispatch.hpp>

#if DRAFTPROOF_WIDE
namespace draftproof::simd {

// Sums of floats in units of 2^-60, exact once each is truncated, without turning one into an integer: three float
// accumulators hold the bits above 2^-22, those down to 2^-41, and the rest. A term takes six operations on sixteen
// lanes; conversions to 64-bit integers take eight, two each even from memory, beside scaling and adding.
//
//   s_1, s_2, s_3   level[]     start at 2, 2^-18, 2^-37 and stay below twice that: units u = 2^-22, 2^-41, 2^-60
//   s_i + x         add(x)      rounded down: s_i gains the multiple of u_i below x, the rest, exact, goes to s_(i+1)
//                               (512 bits; 256-bit registers cannot choose the rounding, see there)
//   total           total()     how many units each level gained, read from the bits of its fraction
//
// Terms are scaled by the fused addition that fills the first level, so that a unit further down is 1.
//
// Right in any order because a level's unit does not change while it fills: no sum leaves its binade. Terms of one
// lane add up to less than 2 (a row does, over all lanes), and `most` rests below u_1 = 2^-22 to less than 2^-18, as
// many below u_2 to less than 2^-37. A product with a power of two and a rest have no more bits than the term.

namespace avx2 {

struct FloatSum;

/// Eight lanes. Additions round to nearest here, so rests have either sign and the lower levels start halfway; what
/// is below 2^-60 is cut off the last rest, so that the last level is exact too. Levels count in 2^-60.
struct Levels {
  using Total = FloatSum;
  static constexpr std::size_t most = 16;
  __m256 first, second, third;

  DRAFTPROOF_AVX2_PART static Levels zero() {
    return {_mm256_set1_ps(0x1p61f), _mm256_set1_ps(0x1.8p42f), _mm256_set1_ps(0x1.8p23f)};
  }
  DRAFTPROOF_AVX2_PART void add(__m256 term) {
    const __m256 scale = _mm256_set1_ps(0x1p60f), high = _mm256_fmadd_ps(term, scale, first);
    const __m256 rest = _mm256_fmsub_ps(term, scale, _mm256_sub_ps(high, first));
    first = high;
    const __m256 middle = _mm256_add_ps(second, rest);
    third = _mm256_add_ps(third, _mm256_floor_ps(_mm256_sub_ps(rest, _mm256_sub_ps(middle, second))));
    second = middle;
  }
  DRAFTPROOF_AVX2_PART void add_where_positive(__m256 x, __m256 term) {
    add(_mm256_and_ps(_mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_GT_OQ), term));
  }
};

/// What levels gained so far, in units of each.
struct FloatSum {
  __m256i high, middle, low;

  DRAFTPROOF_AVX2_PART static FloatSum zero() {
    return {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()};
  }
  DRAFTPROOF_AVX2_PART static __m256i gained(__m256i before, __m256 a, __m256 b, __m256 start) {
    const __m256i start_bits = _mm256_castps_si256(start);
    return _mm256_add_epi32(before, _mm256_add_epi32(_mm256_sub_epi32(_mm256_castps_si256(a), start_bits),
                                                     _mm256_sub_epi32(_mm256_castps_si256(b), start_bits)));
  }
  DRAFTPROOF_AVX2_PART void fold(const Levels& a, const Levels& b) {
    const Levels start = Levels::zero();
    high = gained(high, a.first, b.first, start.first);
    middle = gained(middle, a.second, b.second, start.second);
    low = gained(low, a.third, b.third, start.third);
  }
  DRAFTPROOF_AVX2_PART Fixed total() const {
    alignas(32) std::int32_t units[3][8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(units[0]), high);
    _mm256_store_si256(reinterpret_cast<__m256i*>(units[1]), middle);
    _mm256_store_si256(reinterpret_cast<__m256i*>(units[2]), low);
    Fixed sums[3] = {0, 0, 0};
    for (int level = 0; level < 3; ++level)
      for (const std::int32_t gain : units[level]) sums[level] += gain;
    return sums[0] * (Fixed{1} << 38) + sums[1] * (Fixed{1} << 19) + sums[2];
  }
};

}  // namespace avx2

namespace avx512 {

struct FloatSum;

/// Sixteen lanes; takes at most `most` additions. Levels count in 2^-41, so that the second one's rest is what is
/// left of a whole number, for which there is an instruction.
struct Levels {
  using Total = FloatSum;
  static constexpr std::size_t most = 16;
  static constexpr int down = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
  __m512 first, second, third;

  DRAFTPROOF_AVX512_PART static Levels zero() {
    return {_mm512_set1_ps(0x1p42f), _mm512_set1_ps(0x1p23f), _mm512_set1_ps(0x1p4f)};
  }
  DRAFTPROOF_AVX512_PART void add(__m512 term) {
    const __m512 scale = _mm512_set1_ps(0x1p41f), sum = _mm512_fmadd_round_ps(term, scale, first, down);
    const __m512 rest = _mm512_fmsub_ps(term, scale, _mm512_sub_ps(sum, first));
    first = sum;
    add_rest(rest);
  }
  DRAFTPROOF_AVX512_PART void add_where_positive(__m512 x, __m512 term) {
    const __mmask16 counts = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_GT_OQ);
    const __m512 scale = _mm512_set1_ps(0x1p41f);
    const __m512 sum = _mm512_mask3_fmadd_round_ps(term, scale, first, counts, down);
    const __m512 rest = _mm512_maskz_fmsub_ps(counts, term, scale, _mm512_sub_ps(sum, first));
    first = sum;
    add_rest(rest);
  }

 private:
  DRAFTPROOF_AVX512_PART void add_rest(__m512 rest) {
    second = _mm512_add_round_ps(second, rest, down);
    third = _mm512_add_round_ps(third, _mm512_reduce_ps(rest, down), down);
  }
};

/// Units that four accumulators of one level gained, in eight lanes of eight, each gain below 2^23.
DRAFTPROOF_AVX512_PART __m512i gained(__m512 a, __m512 b, __m512 c, __m512 d, __m512 start) {
  const __m512i bits = _mm512_add_epi32(_mm512_add_epi32(_mm512_castps_si512(a), _mm512_castps_si512(b)),
                                        _mm512_add_epi32(_mm512_castps_si512(c), _mm512_castps_si512(d)));
  const __m512i units = _mm512_sub_epi32(bits, _mm512_slli_epi32(_mm512_castps_si512(start), 2));
  const __m256i halves = _mm256_add_epi32(_mm512_castsi512_si256(units), _mm512_extracti64x4_epi64(units, 1));
  return _mm512_cvtepi32_epi64(halves);
}

/// What four of them gained so far, in units of 2^-60.
struct FloatSum {
  __m512i units;

  DRAFTPROOF_AVX512_PART static FloatSum zero() { return {_mm512_setzero_si512()}; }
  DRAFTPROOF_AVX512_PART void fold(const Levels& a, const Levels& b, const Levels& c, const Levels& d) {
    const Levels start = Levels::zero();
    const __m512i high = gained(a.first, b.first, c.first, d.first, start.first),
                  middle = gained(a.second, b.second, c.second, d.second, start.second),
                  low = gained(a.third, b.third, c.third, d.third, start.third);
    const __m512i upper = _mm512_add_epi64(_mm512_slli_epi64(high, 19), middle);
    units = _mm512_add_epi64(units, _mm512_add_epi64(_mm512_slli_epi64(upper, 19), low));
  }
  DRAFTPROOF_AVX512_PART Fixed total() const { return _mm512_reduce_add_epi64(units); }
};

/// Integers of eight scaled doubles, added up.
struct DoubleSum {
  using Total = DoubleSum;
  static constexpr std::size_t most = 1024;
  __m512i sum;

  DRAFTPROOF_AVX512_PART static DoubleSum zero() { return {_mm512_setzero_si512()}; }
  DRAFTPROOF_AVX512_PART void add(__m512d scaled) { sum = _mm512_add_epi64(sum, _mm512_cvttpd_epi64(scaled)); }
  DRAFTPROOF_AVX512_PART void add_where_positive(__m512d x, __m512d scaled) {
    const __mmask8 counts = _mm512_cmp_pd_mask(x, _mm512_setzero_pd(), _CMP_GT_OQ);
    sum = _mm512_add_epi64(sum, _mm512_maskz_cvttpd_epi64(counts, scaled));
  }
  template <class... Sums>
  DRAFTPROOF_AVX512_PART void fold(const Sums&... part) {
    sum += (part.sum + ...);
  }
  DRAFTPROOF_AVX512_PART Fixed total() const { return _mm512_reduce_add_epi64(sum); }
};

}  // namespace avx512

namespace avx2 {

/// Integer parts of four scaled terms, added up.
struct DoubleSum {
  using Total = DoubleSum;
  static constexpr std::size_t most = 1024;
  __m256d high, low;

  DRAFTPROOF_AVX2_PART static DoubleSum zero() { return {_mm256_setzero_pd(), _mm256_setzero_pd()}; }
  DRAFTPROOF_AVX2_PART void add(__m256d scaled) {
    const __m256d shift = _mm256_set1_pd(0x1.8p84);  // the last bit of a sum with it is worth 2^32
    const __m256d top = _mm256_sub_pd(_mm256_add_pd(scaled, shift), shift);
    high = _mm256_add_pd(high, top);
    low = _mm256_add_pd(low, _mm256_floor_pd(_mm256_sub_pd(scaled, top)));
  }
  DRAFTPROOF_AVX2_PART void add_where_positive(__m256d x, __m256d scaled) {
    add(_mm256_and_pd(_mm256_cmp_pd(x, _mm256_setzero_pd(), _CMP_GT_OQ), scaled));
  }
  template <class... Sums>
  DRAFTPROOF_AVX2_PART void fold(const Sums&... part) {
    high += (part.high + ...);
    low += (part.low + ...);
  }
  DRAFTPROOF_AVX2_PART Fixed total() const {
    alignas(32) double highs[4], lows[4];
    _mm256_store_pd(highs, high);
    _mm256_store_pd(lows, low);
    std::uint64_t sum = 0;  // high parts round to nearest and may pass 2^63 by what low parts take away again
    for (int lane = 0; lane < 4; ++lane)
      sum += (static_cast<std::uint64_t>(static_cast<Fixed>(highs[lane] * 0x1p-32)) << 32) +
             static_cast<std::uint64_t>(static_cast<Fixed>(lows[lane]));
    return static_cast<Fixed>(sum);
  }
};

}  // namespace avx2
}  // namespace draftproof::simd
#endif
