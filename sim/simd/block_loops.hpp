// The loop of a pass over one block of terms, at every width: reads terms, returns their integer sum.
//
//   scalar_sum, scalar_each    one term after another; scalar_each stores the integers
//   avx2_whole, avx512_whole   a number of terms that fills registers, at most 1024
//   avx2_sum, avx512_sum       any number, at most 1024
//   avx2_sums, avx512_sums     all blocks of a row, and their total
//
// Cost: the terms once.
// Correctness: terms are the same numbers at every width (residual_terms.hpp, float_residual_terms.hpp), truncated to
// the same integers, whose sum does not depend on the order (exact_sums.hpp).
#pragma once

#include <algorithm>
#include <cstddef>

#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/simd/exact_sums.hpp>
#include <draftproof/sim/simd/float_residual_terms.hpp>
#include <draftproof/sim/simd/residual_terms.hpp>

namespace draftproof::simd {

/// Number of terms of a partial sum, and of terms that the search for a token sums at a time.
inline constexpr std::size_t block = 1024, strip = 64;

/// Sum of the terms start .. end - 1, one after another. Inlined, so that fused multiply-adds become instructions
/// where the caller's target has them.
template <class Term>
DRAFTPROOF_INLINE Fixed scalar_sum(const Term& term, std::size_t start, std::size_t end) {
  Fixed sum = 0;
  for (std::size_t i = start; i < end; ++i) sum += to_fixed(term.one(i));
  return sum;
}

template <class Term>
DRAFTPROOF_INLINE void scalar_each(const Term& term, std::size_t start, std::size_t end, Fixed* integers) {
  for (std::size_t i = start; i < end; ++i) *integers++ = to_fixed(term.one(i));
}

#if DRAFTPROOF_WIDE
namespace detail {

/// Number of terms that are processed together.
template <class Term>
inline constexpr std::size_t step = in_floats<Term> ? 16 : 8;

/// Sum of terms start .. end - 1, at most 1024, their number a multiple of step<Term>.
template <class Term>
DRAFTPROOF_AVX2_PART Fixed avx2_floats(const Term& term, std::size_t start, std::size_t end) {
  FloatSum256 sum = FloatSum256::zero();
  for (std::size_t i = start; i < end;) {
    Levels256 even = Levels256::zero(), odd = even;
    for (const std::size_t full = std::min<std::size_t>(end, i + 16 * Levels256::most); i < full; i += 16) {
      if ((i - start) % 32 == 0) term.fetch(i);
      even.add(term.load8(i));
      odd.add(term.load8(i + 8));
    }
    sum.fold(even, odd);
  }
  return sum.total();
}

template <class Term>
DRAFTPROOF_AVX2_PART Fixed avx2_whole(const Term& term, std::size_t start, std::size_t end) {
  if constexpr (in_floats<Term>) {
    return avx2_floats(term, start, end);
  } else {
    Sum256 even = Sum256::zero(), odd = Sum256::zero();
    for (std::size_t i = start; i < end; i += 8) {
      if ((i - start) % 32 == 0) term.fetch(i);
      even.add(term.load4(i));
      odd.add(term.load4(i + 4));
    }
    return even.total() + odd.total();
  }
}

template <class Term>
DRAFTPROOF_AVX512_PART Fixed avx512_floats(const Term& term, std::size_t start, std::size_t end) {
  FloatSum512 sum = FloatSum512::zero();
  const std::size_t rest = (end - start) % 64, whole = end - rest;
  for (std::size_t i = start; i < whole; i += 64) {
    term.fetch(i);
    term.fetch(i + 32);
    sum.a.add(term.load16(i));
    sum.b.add(term.load16(i + 16));
    sum.c.add(term.load16(i + 32));
    sum.d.add(term.load16(i + 48));
  }
  if (rest > 0) sum.a.add(term.load16(whole));
  if (rest > 16) sum.b.add(term.load16(whole + 16));
  if (rest > 32) sum.c.add(term.load16(whole + 32));
  return sum.total();
}

template <class Term>
DRAFTPROOF_AVX512_PART Fixed avx512_doubles(const Term& term, std::size_t start, std::size_t end) {
  __m512i first = _mm512_setzero_si512(), second = first, third = first, fourth = first;
  std::size_t i = start;
  for (; i + 32 <= end; i += 32) {
    term.fetch(i);
    first = _mm512_add_epi64(first, _mm512_cvttpd_epi64(term.load8(i)));
    second = _mm512_add_epi64(second, _mm512_cvttpd_epi64(term.load8(i + 8)));
    third = _mm512_add_epi64(third, _mm512_cvttpd_epi64(term.load8(i + 16)));
    fourth = _mm512_add_epi64(fourth, _mm512_cvttpd_epi64(term.load8(i + 24)));
  }
  for (; i < end; i += 8) first = _mm512_add_epi64(first, _mm512_cvttpd_epi64(term.load8(i)));
  return _mm512_reduce_add_epi64(_mm512_add_epi64(_mm512_add_epi64(first, second), _mm512_add_epi64(third, fourth)));
}

template <class Term>
DRAFTPROOF_AVX512_PART Fixed avx512_whole(const Term& term, std::size_t start, std::size_t end) {
  if constexpr (in_floats<Term>)
    return avx512_floats(term, start, end);
  else
    return avx512_doubles(term, start, end);
}

/// Sum of at most one block.
template <class Term>
DRAFTPROOF_AVX2 Fixed avx2_sum(const Term& term, std::size_t start, std::size_t end) {
  const std::size_t whole = start + (end - start) / step<Term> * step<Term>;
  return avx2_whole(term, start, whole) + scalar_sum(term, whole, end);
}

template <class Term>
DRAFTPROOF_AVX512 Fixed avx512_sum(const Term& term, std::size_t start, std::size_t end) {
  const std::size_t whole = start + (end - start) / step<Term> * step<Term>;
  return avx512_whole(term, start, whole) + scalar_sum(term, whole, end);
}

/// Compiled for a target where fused multiply-add is an instruction; elsewhere it is a call.
template <class Term>
DRAFTPROOF_AVX2 void fusing_each(const Term& term, std::size_t start, std::size_t end, Fixed* integers) {
  scalar_each(term, start, end, integers);
}

template <class Term>
DRAFTPROOF_AVX2 Fixed avx2_sums(Term term, std::size_t size, Fixed* partial) {
  Fixed total = 0;
  for (std::size_t start = 0; start < size; start += block)
    total += * partial++ = avx2_sum(term, start, std::min(start + block, size));
  return total;
}

template <class Term>
DRAFTPROOF_AVX512 Fixed avx512_sums(Term term, std::size_t size, Fixed* partial) {
  Fixed total = 0;
  std::size_t start = 0;
  for (; start + block <= size; start += block)  // inlined, with a length known to the compiler
    total += * partial++ = avx512_whole(term, start, start + block);
  if (start < size) total += * partial = avx512_sum(term, start, size);
  return total;
}

}  // namespace detail
#endif

}  // namespace draftproof::simd
