// The residual of a target and the law of a selected token, as a term of passes (block_sums.hpp).
//
//   c           scale             factor of the target, 1 if a single token is verified
//   slope       slope[bucket]     selected law over q of the tokens in each bucket of p / q, 0 in the outside one
//   one(i)      (c p - q slope)+  of token i; load4(i), load8(i) as in residual_terms.hpp
//
// Cost: a division and a look-up in 8 KiB a token.
// Correctness: at every width buckets are those of RatioBuckets, and products and difference round as in one(i).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

#include <draftproof/sim/numeric/ratio_buckets.hpp>
#include <draftproof/sim/simd/residual_terms.hpp>

namespace draftproof::simd {

/// The term, one token at a time; rows of float have a specialisation for wide registers.
template <class Row>
struct LeftTerm {
  Row p, q;
  const double* slope;
  double scale;

  static constexpr bool wide() { return false; }
  void fetch(std::size_t) const {}
  double one(std::size_t i) const {
    const double target = p.one(i), proposal = q.one(i);
    const std::size_t bucket = proposal > 0 ? RatioBuckets::of(target, proposal) : RatioBuckets::outside;
    return std::max(scale * target - proposal * slope[bucket], 0.0);
  }
#if DRAFTPROOF_WIDE
  // Never called, because wide() is false.
  DRAFTPROOF_AVX2_PART __m256d load4(std::size_t) const { return _mm256_setzero_pd(); }
  DRAFTPROOF_AVX512_PART __m512d load8(std::size_t) const { return _mm512_setzero_pd(); }
#endif
};

#if DRAFTPROOF_WIDE
template <>
struct LeftTerm<Reader<float>> {
  Reader<float> p, q;
  const double* slope;
  double scale;

  static constexpr bool wide() { return true; }
  void fetch(std::size_t) const {}  // no prefetch: the data was just copied
  double one(std::size_t i) const {
    const float target = p.first[i], proposal = q.first[i];
    const std::size_t bucket = proposal > 0 ? RatioBuckets::of(target / proposal) : RatioBuckets::outside;
    return std::max(scale * double{target} - double{proposal} * slope[bucket], 0.0);
  }

  DRAFTPROOF_AVX2_PART __m256d load4(std::size_t i) const {
    const __m128 target = _mm_loadu_ps(p.first + i), proposal = _mm_loadu_ps(q.first + i);
    const __m128 drafted = _mm_cmp_ps(proposal, _mm_setzero_ps(), _CMP_GT_OQ), out = _mm_set1_ps(float_of(end));
    __m128 ratio = _mm_div_ps(target, _mm_blendv_ps(out, proposal, drafted));
    ratio = _mm_min_ps(_mm_max_ps(ratio, _mm_set1_ps(float_of(lowest))), _mm_set1_ps(float_of(end - 1)));
    const __m128i bits = _mm_castps_si128(_mm_blendv_ps(out, ratio, drafted));
    const __m128i bucket = _mm_sub_epi32(_mm_srli_epi32(bits, RatioBuckets::shift), _mm_set1_epi32(first_step));
    const __m256d all = _mm256_castsi256_pd(_mm256_set1_epi64x(-1));
    const __m256d slopes = _mm256_mask_i32gather_pd(_mm256_setzero_pd(), slope, bucket, all, 8);
    const __m256d left = _mm256_sub_pd(_mm256_mul_pd(_mm256_set1_pd(scale), _mm256_cvtps_pd(target)),
                                       _mm256_mul_pd(_mm256_cvtps_pd(proposal), slopes));
    return _mm256_mul_pd(_mm256_max_pd(left, _mm256_setzero_pd()), _mm256_set1_pd(unit));
  }
  DRAFTPROOF_AVX512_PART __m512d load8(std::size_t i) const {
    const __m256 target = _mm256_loadu_ps(p.first + i), proposal = _mm256_loadu_ps(q.first + i);
    const __mmask8 drafted = _mm256_cmp_ps_mask(proposal, _mm256_setzero_ps(), _CMP_GT_OQ);
    __m256 ratio = _mm256_maskz_div_ps(drafted, target, proposal);
    ratio = _mm256_max_ps(ratio, _mm256_set1_ps(float_of(lowest)));
    ratio = _mm256_mask_min_ps(_mm256_set1_ps(float_of(end)), drafted, ratio, _mm256_set1_ps(float_of(end - 1)));
    const __m256i bits = _mm256_castps_si256(ratio);
    const __m256i bucket =
        _mm256_sub_epi32(_mm256_srli_epi32(bits, RatioBuckets::shift), _mm256_set1_epi32(first_step));
    const __m512d slopes = _mm512_mask_i32gather_pd(_mm512_setzero_pd(), __mmask8{0xFF}, bucket, slope, 8);
    const __m512d left = _mm512_sub_pd(_mm512_mul_pd(_mm512_set1_pd(scale), _mm512_cvtps_pd(target)),
                                       _mm512_mul_pd(_mm512_cvtps_pd(proposal), slopes));
    return _mm512_mul_pd(_mm512_max_pd(left, _mm512_setzero_pd()), _mm512_set1_pd(unit));
  }

 private:
  static constexpr std::uint32_t lowest = RatioBuckets::lowest_bits, end = RatioBuckets::end_bits;
  static constexpr int first_step = static_cast<int>(lowest >> RatioBuckets::shift);
  static float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }
};
#endif

}  // namespace draftproof::simd
