// A pass over a function of the token: the terms of a strip of tokens are computed into a small array, and the array is
// added. The function is compiled again for wider registers; the compiler vectorises it if it is simple enough.
//
//   f(x)      f             a double for x = 0 .. n - 1; 0 <= f and a total below 8
//   strip     strip         number of tokens computed together; constant, so that the compiler knows the loop count
//   partial   partial[i]    sum of to_fixed(f) over part i, part_length(n) tokens; at most most_parts of them
//
// Cost: f is called once for each token; a draw calls f again on at most one part, and stops at the drawn token.
// Correctness: the same operations on the same doubles round the same way at every width. Fused multiply-add would
// round differently: DRAFTPROOF_WHOLE prevents g++ from using it; other compilers need -ffp-contract=off, which
// draftproof's CMake targets pass to their users. Tests compare the widths.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <draftproof/sim/simd/block_sums.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof::simd {

/// Returns the length of a part: at least a block, and so long that there are at most most_parts parts.
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
/// A reader of computed terms, without prefetches.
struct Computed {
  Reader<double> terms;

  DRAFTPROOF_AVX2_PART __m256d load4(std::size_t i) const { return terms.load4(i); }
  DRAFTPROOF_AVX512_PART __m512d load8(std::size_t i) const { return terms.load8(i); }
};

template <class F>
DRAFTPROOF_AVX2 DRAFTPROOF_WHOLE Fixed avx2_strips(const F& f, std::size_t start, std::size_t end) {
  alignas(64) double terms[strip];
  Fixed sum = 0;
  for (; start < end; start += strip) {
    fill(f, static_cast<Token>(start), terms);
    sum += avx2::whole_sum(RowTerm<Computed>{{{terms}}}, 0, strip);
  }
  return sum;
}
template <class F>
DRAFTPROOF_AVX512 DRAFTPROOF_WHOLE Fixed avx512_strips(const F& f, std::size_t start, std::size_t end) {
  alignas(64) double terms[strip];
  Fixed sum = 0;
  for (; start < end; start += strip) {
    fill(f, static_cast<Token>(start), terms);
    sum += avx512::whole_sum(RowTerm<Computed>{{{terms}}}, 0, strip);
  }
  return sum;
}
#endif

}  // namespace detail

/// Returns the sum of to_fixed(f) over start .. end - 1.
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

/// Returns the first token from `start` on whose running sum exceeds `left`. Requires such a token before `end`.
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

}  // namespace draftproof::simd

namespace draftproof::simd {

// Whether some token of a strip satisfies a condition. Scans test this before they read tokens one by one, because
// most strips contain no such token.
//
//   condition(x)   for tokens start .. start + strip - 1; may be called for all of them, in any order
//
// Cost: one comparison for each token, vectorised if the condition is simple enough for the compiler.

namespace detail {

template <class Condition>
[[gnu::always_inline]] inline bool some_of_strip(const Condition& condition, Token start) {
  int found = 0;
  for (int i = 0; i < static_cast<int>(strip); ++i) found |= static_cast<int>(condition(start + i));
  return found != 0;
}

#if DRAFTPROOF_WIDE
template <class Condition>
DRAFTPROOF_AVX2 [[gnu::flatten]] bool avx2_some(const Condition& condition, Token start) {
  return some_of_strip(condition, start);
}
template <class Condition>
DRAFTPROOF_AVX512 [[gnu::flatten]] bool avx512_some(const Condition& condition, Token start) {
  return some_of_strip(condition, start);
}
#endif

}  // namespace detail

template <class Condition>
bool some(const Condition& condition, Token start, [[maybe_unused]] Width width = in_use()) {
#if DRAFTPROOF_WIDE
  if (width == Width::avx512) return detail::avx512_some(condition, start);
  if (width == Width::avx2) return detail::avx2_some(condition, start);
#endif
  return detail::some_of_strip(condition, start);
}

}  // namespace draftproof::simd
