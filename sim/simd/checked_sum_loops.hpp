// The loops that check, sum and normalise a row in wide registers; their scalar versions are in stored_row.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include <draftproof/sim/device/host_device.hpp>
#include <draftproof/sim/simd/readers.hpp>

#if DRAFTPROOF_WIDE
namespace draftproof::simd {

/// Adds the bits of 2 + x for a multiple of 4 entries from `start` on; false if one is not in [0, 2).
template <class Row>
DRAFTPROOF_AVX2 bool avx2_stored_sum(Row row, std::size_t start, std::size_t end, std::uint64_t& sum) {
  const __m256d two = _mm256_set1_pd(2), zero = _mm256_setzero_pd();
  __m256d sound = _mm256_castsi256_pd(_mm256_set1_epi64x(-1));
  __m256i bits = _mm256_setzero_si256();
  for (std::size_t i = start; i < end; i += 4) {
    const __m256d x = row.load4(i);
    sound = _mm256_and_pd(sound, _mm256_cmp_pd(x, zero, _CMP_GE_OQ));
    sound = _mm256_and_pd(sound, _mm256_cmp_pd(x, two, _CMP_LT_OQ));
    bits = _mm256_add_epi64(bits, _mm256_castpd_si256(_mm256_add_pd(x, two)));
  }
  alignas(32) std::uint64_t lanes[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), bits);
  sum += lanes[0] + lanes[1] + lanes[2] + lanes[3];
  return _mm256_movemask_pd(sound) == 0xF;
}

/// The same for a multiple of 8.
template <class Row>
DRAFTPROOF_AVX512 bool avx512_stored_sum(Row row, std::size_t start, std::size_t end, std::uint64_t& sum) {
  const __m512d two = _mm512_set1_pd(2), zero = _mm512_setzero_pd();
  unsigned unsound = 0;
  __m512i bits = _mm512_setzero_si512();
  for (std::size_t i = start; i < end; i += 8) {
    const __m512d x = row.load8(i);
    const __mmask8 here = _mm512_cmp_pd_mask(x, zero, _CMP_GE_OQ);
    unsound |= 0xFFu ^ _mm512_mask_cmp_pd_mask(here, x, two, _CMP_LT_OQ);
    bits = _mm512_add_epi64(bits, _mm512_castpd_si512(_mm512_add_pd(x, two)));
  }
  // Sums of lanes can have any value if the row is not a probability vector; signed sums could overflow.
  alignas(64) std::uint64_t lanes[8];
  _mm512_store_si512(lanes, bits);
  for (const std::uint64_t lane : lanes) sum += lane;
  return unsound == 0;
}

/// Writes float(x factor) of the first multiple of 4 entries, or of 8; returns how many that is.
template <class Row>
DRAFTPROOF_AVX2 std::size_t avx2_scaled(Row row, std::size_t count, double factor, float* out) {
  const std::size_t whole = count / 4 * 4;
  for (std::size_t i = 0; i < whole; i += 4)
    _mm_storeu_ps(out + i, _mm256_cvtpd_ps(_mm256_mul_pd(row.load4(i), _mm256_set1_pd(factor))));
  return whole;
}
template <class Row>
DRAFTPROOF_AVX512 std::size_t avx512_scaled(Row row, std::size_t count, double factor, float* out) {
  const std::size_t whole = count / 8 * 8;
  for (std::size_t i = 0; i < whole; i += 8)
    _mm256_storeu_ps(out + i, _mm512_cvtpd_ps(_mm512_mul_pd(row.load8(i), _mm512_set1_pd(factor))));
  return whole;
}

}  // namespace draftproof::simd
#endif
