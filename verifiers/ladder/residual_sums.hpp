// The pass over the residual of a target and the law of a selected draft (residual_term.hpp), which is 0 for most
// tokens. Tokens with a ratio in `nothing` are known to have none and are skipped before their slopes are looked up.
//
//   nothing   [from, to)         ratios p / q with residual 0; may be empty
//   partial   partial[i]         sum of to_fixed(term) over block i; the total is returned
//
// Cost: two comparisons a token, and a look-up for the tokens that pass.
// Correctness: skipped terms are 0, so the sums are those of simd::sums, bit by bit. The test is made in float and
// keeps every token that rounding could affect; where products underflow, the term is far below 2^-60.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

#include <draftproof/sim/simd/block_sums.hpp>
#include <draftproof/verifiers/ladder/residual_term.hpp>

namespace draftproof::simd {

/// Ratios [from, to) that leave no residual.
struct RatioSpan {
  float from = 0, to = 0;
};

#if DRAFTPROOF_WIDE
namespace detail {
/// Copies the pairs of a block that pass; returns how many. The lists need space for 16 entries more than `count`.
DRAFTPROOF_AVX512 inline std::size_t keep_ratios(const float* p, const float* q, std::size_t count, RatioSpan nothing,
                                                 float* kept_p, float* kept_q) {
  const __m512 from = _mm512_set1_ps(nothing.from), to = _mm512_set1_ps(nothing.to);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; i += 16) {
    const __mmask16 there = count - i < 16 ? static_cast<__mmask16>((1u << (count - i)) - 1) : __mmask16{0xFFFF};
    const __m512 target = _mm512_maskz_loadu_ps(there, p + i), proposal = _mm512_maskz_loadu_ps(there, q + i);
    const __mmask16 above = _mm512_cmp_ps_mask(target, _mm512_mul_ps(from, proposal), _CMP_GE_OQ);
    const __mmask16 inside = _mm512_mask_cmp_ps_mask(above, target, _mm512_mul_ps(to, proposal), _CMP_LT_OQ);
    const auto pass = static_cast<__mmask16>(there & ~inside);
    _mm512_storeu_ps(kept_p + kept, _mm512_maskz_compress_ps(pass, target));
    _mm512_storeu_ps(kept_q + kept, _mm512_maskz_compress_ps(pass, proposal));
    kept += static_cast<std::size_t>(std::popcount(static_cast<unsigned>(pass)));
  }
  return kept;
}
}  // namespace detail
#endif

template <class Term>
Fixed left_sums(const Term& term, std::size_t size, RatioSpan, Fixed* partial, Width width = in_use()) {
  return sums(term, size, partial, width);
}

#if DRAFTPROOF_WIDE
inline Fixed left_sums(const LeftTerm<Reader<float>>& term, std::size_t size, RatioSpan nothing, Fixed* partial,
                       Width width = in_use()) {
  if (width != Width::avx512 || !(nothing.from < nothing.to)) return sums(term, size, partial, width);
  float p[block + 16], q[block + 16];
  nothing.from *= 1 + 0x1p-20f;  // covers two roundings of 2^-24
  nothing.to *= 1 - 0x1p-20f;
  Fixed total = 0;
  for (std::size_t start = 0; start < size; start += block) {
    const std::size_t count = std::min(block, size - start);
    const std::size_t kept = detail::keep_ratios(term.p.first + start, term.q.first + start, count, nothing, p, q);
    const LeftTerm<Reader<float>> of_kept{{p}, {q}, term.slope, term.scale};
    total += * partial++ = sum(of_kept, 0, kept, width);
  }
  return total;
}
#endif

}  // namespace draftproof::simd
