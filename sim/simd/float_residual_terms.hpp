// The residual term of rows of float, bf16 or fp16. It is computed in float (short_float.hpp), with sixteen terms in a
// register.
//
//   one(i)        the term of token i             double; computed in float if b fits, else in double
//   load8(i)      terms i .. i + 7                256-bit register of floats; load16(i): 512-bit register
//   wide()        whether load8() and load16() may be called: b <= 2^100
//   doubles()     the term in double, used if wide() is false
//   unsplit()     the term without the low half of b, used if that half is 0, as at b = 1
//
// Cost: for sixteen terms two fused multiply-subtracts (one if unsplit) and a maximum; doubles take fourteen
// operations.
// Correctness: all widths and the device use the same fused operations, and subtracting 0 q changes nothing.
#pragma once

#include <cstddef>

#include <draftproof/sim/numeric/short_float.hpp>
#include <draftproof/sim/simd/readers.hpp>
#include <draftproof/sim/simd/residual_terms.hpp>

namespace draftproof::simd {

template <class Entry, bool split = true>
struct FloatResidualTerm {
  FloatReader<Entry> p, q;
  double b;
  FloatFactor factor;

  FloatResidualTerm(const Entry* target, const Entry* proposal, double at)
      : p{target}, q{proposal}, b{at}, factor{at} {}

  bool wide() const { return factor.fits(); }
  ResidualTerm<Reader<Entry>, Reader<Entry>> doubles() const { return {{p.first}, {q.first}, b}; }
  FloatResidualTerm<Entry, false> unsplit() const requires split { return {p.first, q.first, b}; }

  DRAFTPROOF_INLINE double one(std::size_t i) const {
    if (!factor.fits()) return doubles().one(i);
    return double{factor.above(p.one(i), q.one(i))};
  }
  DRAFTPROOF_INLINE void fetch(std::size_t i) const {
    fetch_ahead(p, i);
    fetch_ahead(q, i);
  }
#if DRAFTPROOF_WIDE
  DRAFTPROOF_AVX2_PART __m256 load8(std::size_t i) const { return above(p.load8(i), q.load8(i)); }
  DRAFTPROOF_AVX512_PART __m512 load16(std::size_t i) const { return above(p.load16(i), q.load16(i)); }
  DRAFTPROOF_AVX2_PART __m256 above(__m256 p_, __m256 q_) const {
    __m256 left = _mm256_fnmadd_ps(_mm256_set1_ps(factor.high()), q_, p_);
    if constexpr (split) left = _mm256_fnmadd_ps(_mm256_set1_ps(factor.low()), q_, left);
    return _mm256_max_ps(left, _mm256_setzero_ps());
  }
  DRAFTPROOF_AVX512_PART __m512 above(__m512 p_, __m512 q_) const {
    __m512 left = _mm512_fnmadd_ps(_mm512_set1_ps(factor.high()), q_, p_);
    if constexpr (split) left = _mm512_fnmadd_ps(_mm512_set1_ps(factor.low()), q_, left);
    return _mm512_max_ps(left, _mm512_setzero_ps());
  }
#endif
};

/// Whether a term has load8() and load16() for registers of floats.
template <class Term>
inline constexpr bool in_floats = false;
template <class Entry, bool split>
inline constexpr bool in_floats<FloatResidualTerm<Entry, split>> = true;

}  // namespace draftproof::simd
