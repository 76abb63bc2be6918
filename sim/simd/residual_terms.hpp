// The terms that passes add up, for the three families of weights of a position, each at every width.
//
//   RowTerm        q                            a row
//   ResidualTerm   (p - b q)+                   the residual at b
//   ClippedTerm    (p - b min(q, p / k))+       the residual with q clipped at p / k
//   one(i)         the term of token i          double
//   load4(i)       2^60 times terms i .. i + 3  256-bit register, before truncation; load8(i): terms i .. i + 7
//   fetch(i)       prefetches entries some way ahead of tokens i .. i + 31
//   wide()         whether load4() and load8() may be called for these parameters
//
// Residuals of rows of float and shorter formats use the term in float_residual_terms.hpp.
//
// Correctness: load4() and load8() have the same rounding errors as one(). A product with a power of two is exact, so
// 2^60 (p - b q) may be computed as fma(p, 2^60, -(2^60 b) q), whose inner product rounds as b q does. Overflow
// requires b > 2^900. If a number underflows, the term is far below 2^-60, and its integer is 0.
//
// p / k is computed without a division (Markstein 1990): with y = 1 / k rounded to nearest and a quotient z within
// one unit in the last place, z + (p - z k) y is the quotient rounded to nearest. The first z is p times 1 / k in two
// parts, whose error is little more than half a unit. The result is exact for p >= 2^-900 and k between 2^-100 and
// 2^100; a smaller p has term 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <draftproof/sim/simd/readers.hpp>

namespace draftproof::simd {

inline constexpr double unit = 0x1p60;

template <class Row>
struct RowTerm {
  Row q;

  static constexpr bool wide() { return true; }
  double one(std::size_t i) const { return q.one(i); }
  DRAFTPROOF_INLINE void fetch(std::size_t i) const { fetch_ahead(q, i); }
#if DRAFTPROOF_WIDE
  DRAFTPROOF_AVX2_PART __m256d load4(std::size_t i) const { return _mm256_mul_pd(q.load4(i), _mm256_set1_pd(unit)); }
  DRAFTPROOF_AVX512_PART __m512d load8(std::size_t i) const {
    return _mm512_mul_pd(q.load8(i), _mm512_set1_pd(unit));
  }
#endif
};

template <class Target, class Proposal>
struct ResidualTerm {
  Target p;
  Proposal q;
  double b;

  bool wide() const { return b <= 0x1p900; }
  double one(std::size_t i) const { return std::max(p.one(i) - b * q.one(i), 0.0); }
  DRAFTPROOF_INLINE void fetch(std::size_t i) const {
    fetch_ahead(p, i);
    fetch_ahead(q, i);
  }
#if DRAFTPROOF_WIDE
  DRAFTPROOF_AVX2_PART __m256d load4(std::size_t i) const { return above(p.load4(i), q.load4(i)); }
  DRAFTPROOF_AVX512_PART __m512d load8(std::size_t i) const { return above(p.load8(i), q.load8(i)); }
  DRAFTPROOF_AVX2_PART __m256d above(__m256d p_, __m256d q_) const {
    const __m256d proposed = _mm256_mul_pd(q_, _mm256_set1_pd(b * unit));
    return _mm256_max_pd(_mm256_fmsub_pd(p_, _mm256_set1_pd(unit), proposed), _mm256_setzero_pd());
  }
  DRAFTPROOF_AVX512_PART __m512d above(__m512d p_, __m512d q_) const {
    const __m512d proposed = _mm512_mul_pd(q_, _mm512_set1_pd(b * unit));
    return _mm512_max_pd(_mm512_fmsub_pd(p_, _mm512_set1_pd(unit), proposed), _mm512_setzero_pd());
  }
#endif
};

template <class Target, class Proposal>
class ClippedTerm {
 public:
  ClippedTerm(Target p, Proposal q, double b, double clip_ratio)
      : above_{p, q, b},
        clip_ratio_{clip_ratio},
        inverse_{1 / clip_ratio},
        rest_{std::fma(-inverse_, clip_ratio, 1.0) * inverse_} {}

  DRAFTPROOF_INLINE void fetch(std::size_t i) const { above_.fetch(i); }
  bool wide() const { return 0x1p-100 <= clip_ratio_ && clip_ratio_ <= 0x1p100 && above_.b <= clip_ratio_; }
  double one(std::size_t i) const {
    const double p = above_.p.one(i);
    return std::max(p - above_.b * std::min(above_.q.one(i), p / clip_ratio_), 0.0);
  }
#if DRAFTPROOF_WIDE
  DRAFTPROOF_AVX2_PART __m256d load4(std::size_t i) const {
    const __m256d p = above_.p.load4(i), inverse = _mm256_set1_pd(inverse_), clip_ratio = _mm256_set1_pd(clip_ratio_);
    const __m256d near = _mm256_fmadd_pd(p, inverse, _mm256_mul_pd(p, _mm256_set1_pd(rest_)));
    const __m256d quotient = _mm256_fmadd_pd(_mm256_fnmadd_pd(near, clip_ratio, p), inverse, near);
    return above_.above(p, _mm256_min_pd(above_.q.load4(i), quotient));
  }
  DRAFTPROOF_AVX512_PART __m512d load8(std::size_t i) const {
    const __m512d p = above_.p.load8(i), inverse = _mm512_set1_pd(inverse_), clip_ratio = _mm512_set1_pd(clip_ratio_);
    const __m512d near = _mm512_fmadd_pd(p, inverse, _mm512_mul_pd(p, _mm512_set1_pd(rest_)));
    const __m512d quotient = _mm512_fmadd_pd(_mm512_fnmadd_pd(near, clip_ratio, p), inverse, near);
    return above_.above(p, _mm512_min_pd(above_.q.load8(i), quotient));
  }
#endif

 private:
  ResidualTerm<Target, Proposal> above_;
  double clip_ratio_, inverse_, rest_;  ///< 1 / clip_ratio is inverse + rest
};

}  // namespace draftproof::simd
