// A pass over a function of the token: terms are computed a strip at a time into a small array and added from there.
// The function is compiled again for wider registers, into which the compiler packs it where it is simple enough.
//
//   f(x)      f             a double for x = 0 .. n - 1; 0 <= f and a total below 8
//   strip     strip         tokens computed together; a fixed trip count, so that loops need no remainder
//   partial   partial[i]    sum of to_fixed(f) over part i, part_length(n) tokens; at most most_parts of them
//
// Cost: f once a token; a draw calls it again on at most one part, and stops at its token.
// Right at every width because the same operations on the same doubles round the same way. What the wider targets
// could add is fused multiply-add, which rounds differently: DRAFTPROOF_WHOLE keeps g++ from it, other compilers need
// -ffp-contract=off, which our targets pass on to their users; tests compare widths.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <draftproof/sim/token.hpp>
#include <draftproof/sim/wide/block_sums.hpp>

namespace draftproof::wide {

/// At least a block, and so long that there are at most most_parts of them.
inline constexpr std::size_t most_parts = 256;
constexpr std::size_t part_length(std::size_t size) {
  return std::max<std::size_t>(1, (size + block * most_parts - 1) / (block * most_parts)) * block;
}

namespace detail {

template <class F>
[[gnu::always_inline]] inline void fill(const F& f, Token start, double* terms) {
  for (int i = 0; i < static_cast<int>(strip); ++i) terms[i] = static_cast<double>(f(start + i));
}

#if DRAFTPROOF_WIDE
/// A reader of terms just computed: nothing follows them that could be fetched.
struct Computed {
  Reader<double> terms;

  DRAFTPROOF_AVX2_PART __m256d four(std::size_t i) const { return terms.four(i); }
  DRAFTPROOF_AVX512_PART __m512d eight(std::size_t i) const { return terms.eight(i); }
};

template <class F>
DRAFTPROOF_AVX2 DRAFTPROOF_WHOLE Fixed avx2_strips(const F& f, std::size_t start, std::size_t end) {
  alignas(64) double terms[strip];
  Fixed sum = 0;
  for (; start < end; start += strip) {
    fill(f, static_cast<Token>(start), terms);
    sum += avx2_whole(RowTerm<Computed>{{{terms}}}, 0, strip);
  }
  return sum;
}
template <class F>
DRAFTPROOF_AVX512 DRAFTPROOF_WHOLE Fixed avx512_strips(const F& f, std::size_t start, std::size_t end) {
  alignas(64) double terms[strip];
  Fixed sum = 0;
  for (; start < end; start += strip) {
    fill(f, static_cast<Token>(start), terms);
    sum += avx512_whole(RowTerm<Computed>{{{terms}}}, 0, strip);
  }
  return sum;
}
#endif

}  // namespace detail

/// Sum of to_fixed(f) over start .. end - 1.
template <class F>
Fixed function_sum(const F& f, std::size_t start, std::size_t end, Width width = in_use()) {
  Fixed sum = 0;
  const std::size_t whole = start + (end - start) / strip * strip;
#if DRAFTPROOF_WIDE
  if (width == Width::avx512)
    sum = detail::avx512_strips(f, start, whole), start = whole;
  else if (width == Width::avx2)
    sum = detail::avx2_strips(f, start, whole), start = whole;
#endif
  (void)whole;
  (void)width;
  for (; start < end; ++start) sum += to_fixed(f(static_cast<Token>(start)));
  return sum;
}

/// The first token from `start` on whose running sum exceeds `left`, given that one before `end` does.
template <class F>
std::size_t find_function(const F& f, std::size_t start, std::size_t end, Fixed left, Width width = in_use()) {
  for (; start + strip < end; start += strip) {
    const Fixed all = function_sum(f, start, start + strip, width);
    if (left < all) break;
    left -= all;
  }
  while ((left -= to_fixed(f(static_cast<Token>(start)))) >= 0) ++start;
  return start;
}

}  // namespace draftproof::wide
