// Loops of block_loops.hpp, which each_width.hpp includes for AVX2 and for AVX-512.

/// A register has `lanes` terms; the loops process multiples of `step` terms.
template <class Term>
inline constexpr std::size_t lanes = in_floats<Term> ? floats : doubles;
template <class Term>
inline constexpr std::size_t step = in_floats<Term> ? 16 : 8;
template <class Term>
using SumOf = std::conditional_t<in_floats<Term>, Levels, DoubleSum>;

/// Returns a register of entries i, i + 1, .. of a term or of one of its rows.
template <class Term, class Row>
DRAFTPROOF_PART auto entries(const Row& row, std::size_t i) {
  if constexpr (in_floats<Term>)
    return floats_at(row, i);
  else
    return doubles_at(row, i);
}

/// Prefetches entries that later iterations read after entries i .. i + stride - 1; each call of fetch() covers 32
/// entries.
template <std::size_t stride, class Term>
DRAFTPROOF_PART void fetch_stride(const Term& term, std::size_t start, std::size_t i) {
  if (stride >= 32 || (i - start) % 32 == 0) term.fetch(i);
  if (stride > 32) term.fetch(i + 32);
}

/// Returns the sum of the terms start .. end - 1, whose number is at most 1024 and a multiple of step<Term>. Each of
/// the registers that one iteration of the loop reads is added to a separate Part; after `most` terms the parts are
/// added to the total, so that each Part stays exact.
template <class Part, class Term, std::size_t... run>
DRAFTPROOF_PART auto pass(const Term& term, std::size_t start, std::size_t end, std::index_sequence<run...>) {
  constexpr std::size_t stride = lanes<Term> * sizeof...(run), most = stride * SumOf<Term>::most;
  auto total = Part::Total::zero();
  std::size_t i = start;
  do {
    Part part[] = {(static_cast<void>(run), Part::zero())...};
    const std::size_t full = most < block ? std::min(end, i + most) : end, rest = (full - i) % stride;
    for (; i < full - rest; i += stride) {
      fetch_stride<stride>(term, start, i);
      (part[run].add(term, i + run * lanes<Term>), ...);
    }
    if constexpr (step<Term> % stride != 0) {
      (static_cast<void>(run * lanes<Term> < rest && (part[run].add(term, i + run * lanes<Term>), true)), ...);
      i += rest;
    }
    total.fold(part[run]...);
  } while (most < block && i < end);
  return total.total();
}

template <class Term>
struct TermSum : SumOf<Term> {
  DRAFTPROOF_PART static TermSum zero() { return {SumOf<Term>::zero()}; }
  DRAFTPROOF_PART void add(const Term& term, std::size_t i) { SumOf<Term>::add(entries<Term>(term, i)); }
};

template <class Term>
DRAFTPROOF_PART Fixed whole_sum(const Term& term, std::size_t start, std::size_t end) {
  return pass<TermSum<Term>>(term, start, end, std::make_index_sequence<doubles / 2>{});
}

/// Returns the sum of at most a block of terms.
template <class Term>
DRAFTPROOF_LOOP Fixed sum(const Term& term, std::size_t start, std::size_t end) {
  const std::size_t whole = start + (end - start) / step<Term> * step<Term>;
  return whole_sum(term, start, whole) + scalar_sum(term, whole, end);
}

/// Writes the sums of all blocks of a row; returns their total.
template <class Term>
DRAFTPROOF_LOOP Fixed sums(Term term, std::size_t size, Fixed* partial) {
  Fixed total = 0;
  std::size_t start = 0;
  for (; start + block <= size; start += block)  // inlined, with a constant number of terms
    total += * partial++ = whole_sum(term, start, start + block);
  if (start < size) total += * partial = sum(term, start, size);
  return total;
}
