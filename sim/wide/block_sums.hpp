// One read-only pass over the terms of a row: their integer sum, and one partial sum a block, so that a draw finds
// its block there and reads only that block again.
//
//   n         size                 number of terms
//   block     block                terms a partial sum covers
//   partial   partial[i]           sum of to_fixed(term) over block i                          [(n + block - 1) /
//   block] total     sums(...)            sum of the partial sums token     find(..., left)      first one whose
//   running sum, in token order, exceeds left
//
// Cost: the terms once, at the width in use (width.hpp); find reads one block, a strip of 64 at a time.
// Right at every width because terms are the same doubles (terms.hpp), truncated to the same integers, which no order
// of addition can change. 256-bit registers have no conversion to 64-bit integers: a scaled term is split into a
// multiple of 2^32 and a rest of at most 2^31 in size, both exact, whose floors add up to its own; 1024 of either sum
// exactly in a double. Terms in float are summed otherwise, to the same integers (float_sums.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <draftproof/sim/fixed_point.hpp>
#include <draftproof/sim/wide/float_sums.hpp>
#include <draftproof/sim/wide/float_terms.hpp>
#include <draftproof/sim/wide/terms.hpp>
#include <draftproof/sim/wide/width.hpp>

namespace draftproof::wide {

inline constexpr std::size_t block = 1024, strip = 64;

/// Sum of the terms start .. end - 1, one after another. Inlined, so that terms that fuse do it by an instruction
/// where the function around it may.
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

/// Terms that are taken together.
template <class Term>
inline constexpr std::size_t step = in_floats<Term> ? 16 : 8;

/// Integer parts of four scaled terms, added up.
struct Sum256 {
  __m256d high, low;

  DRAFTPROOF_AVX2_PART static Sum256 zero() { return {_mm256_setzero_pd(), _mm256_setzero_pd()}; }
  DRAFTPROOF_AVX2_PART void add(__m256d scaled) {
    const __m256d shift = _mm256_set1_pd(0x1.8p84);  // the last bit of a sum with it is worth 2^32
    const __m256d top = _mm256_sub_pd(_mm256_add_pd(scaled, shift), shift);
    high = _mm256_add_pd(high, top);
    low = _mm256_add_pd(low, _mm256_floor_pd(_mm256_sub_pd(scaled, top)));
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

/// Terms start .. end - 1, at most 1024, their number a multiple of step<Term>.
template <class Term>
DRAFTPROOF_AVX2_PART Fixed avx2_floats(const Term& term, std::size_t start, std::size_t end) {
  FloatSum256 sum = FloatSum256::zero();
  for (std::size_t i = start; i < end;) {
    Levels256 even = Levels256::zero(), odd = even;
    for (const std::size_t full = std::min<std::size_t>(end, i + 16 * Levels256::most); i < full; i += 16) {
      if ((i - start) % 32 == 0) term.fetch(i);
      even.add(term.eight(i));
      odd.add(term.eight(i + 8));
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
      even.add(term.four(i));
      odd.add(term.four(i + 4));
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
    sum.a.add(term.sixteen(i));
    sum.b.add(term.sixteen(i + 16));
    sum.c.add(term.sixteen(i + 32));
    sum.d.add(term.sixteen(i + 48));
  }
  if (rest > 0) sum.a.add(term.sixteen(whole));
  if (rest > 16) sum.b.add(term.sixteen(whole + 16));
  if (rest > 32) sum.c.add(term.sixteen(whole + 32));
  return sum.total();
}

template <class Term>
DRAFTPROOF_AVX512_PART Fixed avx512_doubles(const Term& term, std::size_t start, std::size_t end) {
  __m512i first = _mm512_setzero_si512(), second = first, third = first, fourth = first;
  std::size_t i = start;
  for (; i + 32 <= end; i += 32) {
    term.fetch(i);
    first = _mm512_add_epi64(first, _mm512_cvttpd_epi64(term.eight(i)));
    second = _mm512_add_epi64(second, _mm512_cvttpd_epi64(term.eight(i + 8)));
    third = _mm512_add_epi64(third, _mm512_cvttpd_epi64(term.eight(i + 16)));
    fourth = _mm512_add_epi64(fourth, _mm512_cvttpd_epi64(term.eight(i + 24)));
  }
  for (; i < end; i += 8) first = _mm512_add_epi64(first, _mm512_cvttpd_epi64(term.eight(i)));
  return _mm512_reduce_add_epi64(_mm512_add_epi64(_mm512_add_epi64(first, second), _mm512_add_epi64(third, fourth)));
}

template <class Term>
DRAFTPROOF_AVX512_PART Fixed avx512_whole(const Term& term, std::size_t start, std::size_t end) {
  if constexpr (in_floats<Term>)
    return avx512_floats(term, start, end);
  else
    return avx512_doubles(term, start, end);
}

/// A block or less.
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

/// Here a fused multiply-add is an instruction, elsewhere a call.
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
  for (; start + block <= size; start += block)  // inlined, of a length that the compiler knows
    total += * partial++ = avx512_whole(term, start, start + block);
  if (start < size) total += * partial = avx512_sum(term, start, size);
  return total;
}

}  // namespace detail
#endif

/// Sum of the terms start .. end - 1, at most a block of them.
template <class Term>
Fixed sum(const Term& term, std::size_t start, std::size_t end, Width width) {
  if constexpr (in_floats<Term>)
    if (!term.wide()) return sum(term.doubles(), start, end, width);
#if DRAFTPROOF_WIDE
  if (width == Width::avx512 && term.wide()) return detail::avx512_sum(term, start, end);
  if (width == Width::avx2 && term.wide()) return detail::avx2_sum(term, start, end);
#endif
  (void)width;
  return scalar_sum(term, start, end);
}

/// The integers of the terms start .. end - 1, at most a strip of them.
template <class Term>
void each(const Term& term, std::size_t start, std::size_t end, Fixed* integers, Width width) {
#if DRAFTPROOF_WIDE
  if (in_floats<Term> && width != Width::scalar) return detail::fusing_each(term, start, end, integers);
#endif
  (void)width;
  scalar_each(term, start, end, integers);
}

/// Total of `size` terms; partial sums go to `partial`.
template <class Term>
Fixed sums(const Term& term, std::size_t size, Fixed* partial, Width width = in_use()) {
  if constexpr (in_floats<Term>)
    if (!term.wide()) return sums(term.doubles(), size, partial, width);
#if DRAFTPROOF_WIDE
  if (width == Width::avx512 && term.wide()) return detail::avx512_sums(term, size, partial);
  if (width == Width::avx2 && term.wide()) return detail::avx2_sums(term, size, partial);
#endif
  (void)width;
  Fixed total = 0;
  for (std::size_t start = 0; start < size; start += block)
    total += * partial++ = scalar_sum(term, start, std::min(start + block, size));
  return total;
}

/// The first block whose running sum of partial sums exceeds `left`, which is reduced by the blocks before it.
inline std::size_t find_block(const Fixed* partial, Fixed& left) {
  std::size_t i = 0;
  while (left >= partial[i]) left -= partial[i++];
  return i;
}

/// The first token from `start` on whose running sum exceeds `left`, given that one before `end` does.
template <class Term>
std::size_t find(const Term& term, std::size_t start, std::size_t end, Fixed left, Width width = in_use()) {
  for (; start + strip < end; start += strip) {
    const Fixed all = sum(term, start, start + strip, width);
    if (left < all) break;
    left -= all;
  }
  Fixed integers[strip];
  each(term, start, std::min(start + strip, end), integers, width);
  const Fixed* here = integers;
  while ((left -= *here) >= 0) ++here;
  return start + static_cast<std::size_t>(here - integers);
}

}  // namespace draftproof::wide
