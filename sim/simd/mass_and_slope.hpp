// The residual mass as a function of b and its slope in one pass, for Newton's method on b.
//
//   F(b)     mass     sum of (p - b q)+
//   -F'(b)   slope    q-mass of the tokens with p > b q: the right derivative of F, negated
//
// Cost: one pass, two sums.
// Correctness: sums are the same at every width, as in block_loops.hpp, and the mass is that of the residual to the
// last bit. A token counts for the slope where its scaled term is positive, which is where its term is: scaling
// floats cannot underflow, and doubles underflow only for q < 2^-100 if b >= 2^-900.
#pragma once

#include <draftproof/sim/simd/block_sums.hpp>

namespace draftproof::simd {

struct FixedCurve {
  Fixed mass, slope;
};

template <class Term>
DRAFTPROOF_INLINE FixedCurve scalar_curve(const Term& term, std::size_t start, std::size_t end) {
  FixedCurve curve{0, 0};
  for (std::size_t i = start; i < end; ++i)
    if (const double above = term.one(i); above > 0) {
      curve.mass += to_fixed(above);
      curve.slope += to_fixed(term.q.one(i));
    }
  return curve;
}

#if DRAFTPROOF_WIDE
namespace detail {

/// Sums of the integer parts of scaled terms, and of the q that count for the slope.
struct Curve256 {
  Sum256 mass, slope;

  template <class Term>
  DRAFTPROOF_AVX2_PART void add(const Term& term, std::size_t i) {
    const __m256d q = term.q.load4(i), above = term.above(term.p.load4(i), q);
    const __m256d counts = _mm256_cmp_pd(above, _mm256_setzero_pd(), _CMP_GT_OQ);
    mass.add(above);
    slope.add(_mm256_and_pd(counts, _mm256_mul_pd(q, _mm256_set1_pd(unit))));
  }
};

template <class Term>
DRAFTPROOF_AVX2_PART FixedCurve avx2_double_curve(const Term& term, std::size_t start, std::size_t end) {
  Curve256 curve{Sum256::zero(), Sum256::zero()};
  std::size_t i = start;
  for (; i + 4 <= end; i += 4) {
    if ((i - start) % 32 == 0) term.fetch(i);
    curve.add(term, i);
  }
  const FixedCurve rest = scalar_curve(term, i, end);
  return {curve.mass.total() + rest.mass, curve.slope.total() + rest.slope};
}

/// The same for eight floats.
template <class Term>
DRAFTPROOF_AVX2_PART void add_floats(const Term& term, std::size_t i, Levels256& mass, Levels256& slope) {
  const __m256 q = term.q.load8(i), above = term.above(term.p.load8(i), q);
  mass.add(above);
  slope.add(_mm256_and_ps(_mm256_cmp_ps(above, _mm256_setzero_ps(), _CMP_GT_OQ), q));
}

template <class Term>
DRAFTPROOF_AVX2_PART FixedCurve avx2_float_curve(const Term& term, std::size_t start, std::size_t end) {
  FloatSum256 mass = FloatSum256::zero(), slope = mass;
  const std::size_t whole = start + (end - start) / 16 * 16;
  for (std::size_t i = start; i < whole;) {
    Levels256 even_mass = Levels256::zero(), odd_mass = even_mass, even_slope = even_mass, odd_slope = even_mass;
    for (const std::size_t full = std::min<std::size_t>(whole, i + 16 * Levels256::most); i < full; i += 16) {
      if ((i - start) % 32 == 0) term.fetch(i);
      add_floats(term, i, even_mass, even_slope);
      add_floats(term, i + 8, odd_mass, odd_slope);
    }
    mass.fold(even_mass, odd_mass);
    slope.fold(even_slope, odd_slope);
  }
  const FixedCurve rest = scalar_curve(term, whole, end);
  return {mass.total() + rest.mass, slope.total() + rest.slope};
}

template <class Term>
DRAFTPROOF_AVX2 FixedCurve avx2_curve(const Term& term, std::size_t start, std::size_t end) {
  if constexpr (in_floats<Term>)
    return avx2_float_curve(term, start, end);
  else
    return avx2_double_curve(term, start, end);
}

/// The same for eight doubles.
struct Curve512 {
  __m512i mass, slope;

  template <class Term>
  DRAFTPROOF_AVX512_PART void add(const Term& term, std::size_t i) {
    const __m512d q = term.q.load8(i), above = term.above(term.p.load8(i), q);
    const __mmask8 counts = _mm512_cmp_pd_mask(above, _mm512_setzero_pd(), _CMP_GT_OQ);
    mass = _mm512_add_epi64(mass, _mm512_cvttpd_epi64(above));
    const __m512d scaled = _mm512_mul_pd(q, _mm512_set1_pd(unit));
    slope = _mm512_add_epi64(slope, _mm512_maskz_cvttpd_epi64(counts, scaled));
  }
};

template <class Term>
DRAFTPROOF_AVX512_PART FixedCurve avx512_double_curve(const Term& term, std::size_t start, std::size_t end) {
  const __m512i zero = _mm512_setzero_si512();
  Curve512 even{zero, zero}, odd{zero, zero};
  std::size_t i = start;
  for (; i + 16 <= end; i += 16) {
    if ((i - start) % 32 == 0) term.fetch(i);
    even.add(term, i);
    odd.add(term, i + 8);
  }
  const FixedCurve rest = scalar_curve(term, i, end);
  return {_mm512_reduce_add_epi64(_mm512_add_epi64(even.mass, odd.mass)) + rest.mass,
          _mm512_reduce_add_epi64(_mm512_add_epi64(even.slope, odd.slope)) + rest.slope};
}

/// The same for sixteen floats.
template <class Term>
DRAFTPROOF_AVX512_PART void add_floats(const Term& term, std::size_t i, Levels512& mass, Levels512& slope) {
  const __m512 q = term.q.load16(i), above = term.above(term.p.load16(i), q);
  mass.add(above);
  slope.add(_mm512_cmp_ps_mask(above, _mm512_setzero_ps(), _CMP_GT_OQ), q);
}

template <class Term>
DRAFTPROOF_AVX512_PART FixedCurve avx512_float_curve(const Term& term, std::size_t start, std::size_t end) {
  FloatSum512 mass = FloatSum512::zero(), slope = mass;
  std::size_t i = start;
  for (; i + 64 <= end; i += 64) {
    term.fetch(i);
    term.fetch(i + 32);
    add_floats(term, i, mass.a, slope.a);
    add_floats(term, i + 16, mass.b, slope.b);
    add_floats(term, i + 32, mass.c, slope.c);
    add_floats(term, i + 48, mass.d, slope.d);
  }
  const FixedCurve rest = scalar_curve(term, i, end);
  return {mass.total() + rest.mass, slope.total() + rest.slope};
}

template <class Term>
DRAFTPROOF_AVX512 FixedCurve avx512_curve(const Term& term, std::size_t start, std::size_t end) {
  if constexpr (in_floats<Term>)
    return avx512_float_curve(term, start, end);
  else
    return avx512_double_curve(term, start, end);
}

}  // namespace detail
#endif

/// Mass and slope over `size` tokens; writes the partial sums of the mass to `partial`, like sums().
template <class Term>
FixedCurve mass_and_slope(const Term& term, std::size_t size, Fixed* partial, Width width = in_use()) {
  if constexpr (in_floats<Term>)
    if (!term.wide()) return mass_and_slope(term.doubles(), size, partial, width);
  FixedCurve total{0, 0};
  const bool wide = term.wide() && (term.b >= 0x1p-900 || term.b == 0);
  for (std::size_t start = 0; start < size; start += block) {
    const std::size_t end = std::min(start + block, size);
    FixedCurve curve;
#if DRAFTPROOF_WIDE
    if (wide && width == Width::avx512)
      curve = detail::avx512_curve(term, start, end);
    else if (wide && width == Width::avx2)
      curve = detail::avx2_curve(term, start, end);
    else
#endif
      curve = scalar_curve(term, start, end);
    *partial++ = curve.mass;
    total.mass += curve.mass;
    total.slope += curve.slope;
  }
  (void)wide;
  (void)width;
  return total;
}

}  // namespace draftproof::simd
