// Computes the mass of the residual (p - b q)+ and its slope in b in one pass, for Newton's method on b.
//
//   F(b)     mass     sum of (p - b q)+
//   -F'(b)   slope    q-mass of the tokens with p > b q; to the right of b, F falls at most at this rate
//
// Cost: one pass, two sums.
// Correctness: the sums are equal at every width as in block_loops.hpp. Code for wide registers adds q to the slope if
// the scaled term is positive; scalar code adds q if the term is positive. The two conditions differ only if a term
// underflows: terms in float never underflow, and if b >= 2^-900, terms in double underflow only for q < 2^-100. The
// mass equals the residual mass to the last bit.
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

}  // namespace draftproof::simd

#define DRAFTPROOF_BODY <draftproof/sim/simd/curve_body.hpp>
#include <draftproof/sim/simd/each_width.hpp>

namespace draftproof::simd {

/// Returns mass and slope of `size` tokens; writes the partial sums of the mass to `partial`, as sums() does.
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
      curve = avx512::curve(term, start, end);
    else if (wide && width == Width::avx2)
      curve = avx2::curve(term, start, end);
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
