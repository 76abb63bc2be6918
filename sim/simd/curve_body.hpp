// Loops of mass_and_slope.hpp, which each_width.hpp includes for AVX2 and for AVX-512.

/// The sum of the terms, and the sum of q over the tokens with a positive term.
template <class Sum>
struct CurveSum {
  Sum mass, slope;

  DRAFTPROOF_PART static CurveSum zero() { return {Sum::zero(), Sum::zero()}; }
  template <class... Parts>
  DRAFTPROOF_PART void fold(const Parts&... part) {
    mass.fold(part.mass...);
    slope.fold(part.slope...);
  }
  DRAFTPROOF_PART FixedCurve total() const { return {mass.total(), slope.total()}; }
};
template <class Term>
struct CurvePart : CurveSum<SumOf<Term>> {
  using Total = CurveSum<typename SumOf<Term>::Total>;

  DRAFTPROOF_PART static CurvePart zero() { return {CurveSum<SumOf<Term>>::zero()}; }
  DRAFTPROOF_PART void add(const Term& term, std::size_t i) {
    const auto q = entries<Term>(term.q, i), above = term.above(entries<Term>(term.p, i), q);
    this->mass.add(above);
    if constexpr (in_floats<Term>)
      this->slope.add_where_positive(above, q);
    else
      this->slope.add_where_positive(above, q * all(unit));
  }
};

template <class Term>
DRAFTPROOF_LOOP FixedCurve curve(const Term& term, std::size_t start, std::size_t end) {
  const std::size_t whole = start + (end - start) / step<Term> * step<Term>;
  constexpr std::size_t runs = doubles / 4 * (in_floats<Term> ? 2 : 1);
  const FixedCurve wide = pass<CurvePart<Term>>(term, start, whole, std::make_index_sequence<runs>{});
  const FixedCurve rest = scalar_curve(term, whole, end);
  return {wide.mass + rest.mass, wide.slope + rest.slope};
}
