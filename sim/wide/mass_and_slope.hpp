// The curve of residuals and its slope in one pass, for Newton's method on b.
//
//   F(b)     mass     sum of (p - b q)+
//   -F'(b)   slope    q-mass of the tokens with p > b q: from there F falls no faster than this
//
// Cost: one pass, q converted twice. Right at every width as in block_sums.hpp; a token counts for the slope where
// its scaled term is positive, which is where its term is: underflow, which could set them apart, needs q < 2^-100 if
// b >= 2^-900.
#pragma once

#include <draftproof/sim/wide/block_sums.hpp>

namespace draftproof::wide {

struct FixedCurve {
  Fixed mass, slope;
};

template <class Target, class Proposal>
FixedCurve scalar_curve(const ResidualTerm<Target, Proposal>& term, std::size_t start, std::size_t end) {
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

template <class Target, class Proposal>
DRAFTPROOF_AVX2 FixedCurve avx2_curve(const ResidualTerm<Target, Proposal>& term, std::size_t start,
                                      std::size_t end) {
  Sum256 mass = Sum256::zero(), slope = Sum256::zero();
  std::size_t i = start;
  for (; i + 4 <= end; i += 4) {
    if ((i - start) % 32 == 0) term.fetch(i);
    const __m256d q = term.q.four(i), above = term.above(term.p.four(i), q);
    const __m256d counts = _mm256_cmp_pd(above, _mm256_setzero_pd(), _CMP_GT_OQ);
    mass.add(above);
    slope.add(_mm256_and_pd(counts, _mm256_mul_pd(q, _mm256_set1_pd(unit))));
  }
  const FixedCurve rest = scalar_curve(term, i, end);
  return {mass.total() + rest.mass, slope.total() + rest.slope};
}

/// Integer parts of eight scaled terms and of the q that count for the slope, added up.
struct Curve512 {
  __m512i mass, slope;

  template <class Target, class Proposal>
  DRAFTPROOF_AVX512_PART void add(const ResidualTerm<Target, Proposal>& term, std::size_t i) {
    const __m512d q = term.q.eight(i), above = term.above(term.p.eight(i), q);
    const __mmask8 counts = _mm512_cmp_pd_mask(above, _mm512_setzero_pd(), _CMP_GT_OQ);
    mass = _mm512_add_epi64(mass, _mm512_cvttpd_epi64(above));
    const __m512d scaled = _mm512_mul_pd(q, _mm512_set1_pd(unit));
    slope = _mm512_add_epi64(slope, _mm512_maskz_cvttpd_epi64(counts, scaled));
  }
};

template <class Target, class Proposal>
DRAFTPROOF_AVX512 FixedCurve avx512_curve(const ResidualTerm<Target, Proposal>& term, std::size_t start,
                                          std::size_t end) {
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

}  // namespace detail
#endif

/// Of `size` tokens; partial sums of the mass go to `partial`, as sums() leaves them.
template <class Target, class Proposal>
FixedCurve mass_and_slope(const ResidualTerm<Target, Proposal>& term, std::size_t size, Fixed* partial,
                          Width width = in_use()) {
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

}  // namespace draftproof::wide
