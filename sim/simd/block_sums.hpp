// One read-only pass over the terms of a row computes their integer sum and the partial sum of each block. A draw
// finds its block by the partial sums and reads only that block again.
//
//   size          number of terms
//   partial[i]    sum of to_fixed(term) over block i, for i < (size + block - 1) / block
//   sums(..)      the pass: sum of the partial sums
//   find(..)      the first token whose running sum, in token order, exceeds `left`
//
// Cost: a pass computes each term once, at the width in use (dispatch.hpp); find reads one block, a strip of 64 terms
// at a time.
// Correctness: the loops give the same sums at every width (block_loops.hpp), and find adds the same terms as the
// pass.
#pragma once

#include <algorithm>
#include <cstddef>

#include <draftproof/sim/simd/block_loops.hpp>
#include <draftproof/sim/simd/dispatch.hpp>

namespace draftproof::simd {

/// Returns the sum of the terms start .. end - 1, at most a block of them.
template <class Term>
Fixed sum(const Term& term, std::size_t start, std::size_t end, Width width) {
  if constexpr (in_floats<Term>)
    if (!term.wide()) return sum(term.doubles(), start, end, width);
#if DRAFTPROOF_WIDE
  if (width == Width::avx512 && term.wide()) return avx512::sum(term, start, end);
  if (width == Width::avx2 && term.wide()) return avx2::sum(term, start, end);
#endif
  (void)width;
  return scalar_sum(term, start, end);
}

/// Writes the integers of the terms start .. end - 1, at most a strip of them.
template <class Term>
void each(const Term& term, std::size_t start, std::size_t end, Fixed* integers, Width width) {
#if DRAFTPROOF_WIDE
  if (in_floats<Term> && width != Width::scalar) return detail::fusing_each(term, start, end, integers);
#endif
  (void)width;
  scalar_each(term, start, end, integers);
}

/// Returns the total of `size` terms; writes the partial sums to `partial`.
template <class Term>
Fixed sums(const Term& term, std::size_t size, Fixed* partial, Width width = in_use()) {
  if constexpr (in_floats<Term>)
    if (!term.wide()) return sums(term.doubles(), size, partial, width);
#if DRAFTPROOF_WIDE
  if constexpr (requires { term.unsplit(); })
    if (width != Width::scalar && term.factor.low() == 0) return sums(term.unsplit(), size, partial, width);
  if (width == Width::avx512 && term.wide()) return avx512::sums(term, size, partial);
  if (width == Width::avx2 && term.wide()) return avx2::sums(term, size, partial);
#endif
  (void)width;
  Fixed total = 0;
  for (std::size_t start = 0; start < size; start += block)
    total += * partial++ = scalar_sum(term, start, std::min(start + block, size));
  return total;
}

/// Returns the first block whose running sum of partial sums exceeds `left`; subtracts the blocks before it from
/// `left`.
inline std::size_t find_block(const Fixed* partial, Fixed& left) {
  std::size_t i = 0;
  while (left >= partial[i]) left -= partial[i++];
  return i;
}

/// Returns the first token from `start` on whose running sum exceeds `left`. Requires such a token before `end`.
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

}  // namespace draftproof::simd
