// Entries of any storage format as floats, eight or sixteen at a time; 16-bit formats by a shift or by the conversion
// that processors have for them. The same floats at every width, because widening is exact.
//
//   one(i)        entry i                      float
//   eight(i)      entries i .. i + 7           256-bit register
//   sixteen(i)    entries i .. i + 15          512-bit register
//   prefetch(i)   as in reader.hpp; optional
#pragma once

#include <cstddef>

#include <draftproof/sim/bfloat16.hpp>
#include <draftproof/sim/half.hpp>
#include <draftproof/sim/wide/reader.hpp>

namespace draftproof::wide {

template <class Entry>
struct FloatReader;

template <>
struct FloatReader<float> {
  const float* first;

  float one(std::size_t i) const { return first[i]; }
  DRAFTPROOF_INLINE void prefetch(std::size_t i) const { fetch<32 * sizeof(float)>(first + i); }
#if DRAFTPROOF_WIDE
  DRAFTPROOF_AVX2_PART __m256 eight(std::size_t i) const { return _mm256_loadu_ps(first + i); }
  DRAFTPROOF_AVX512_PART __m512 sixteen(std::size_t i) const { return _mm512_loadu_ps(first + i); }
#endif
};

template <>
struct FloatReader<Bfloat16> {
  const Bfloat16* first;

  float one(std::size_t i) const { return first[i]; }
  DRAFTPROOF_INLINE void prefetch(std::size_t i) const { fetch<32 * sizeof(float)>(first + i); }
#if DRAFTPROOF_WIDE
  /// Both halves hold all eight, from one load; one shuffle puts four into the upper bytes of each half's floats.
  DRAFTPROOF_AVX2_PART __m256 eight(std::size_t i) const {
    const __m128i stored = _mm_loadu_si128(reinterpret_cast<const __m128i*>(first + i));
    constexpr char none = -1;
    const __m256i place =
        _mm256_setr_epi8(none, none, 0, 1, none, none, 2, 3, none, none, 4, 5, none, none, 6, 7,  //
                         none, none, 8, 9, none, none, 10, 11, none, none, 12, 13, none, none, 14, 15);
    return _mm256_castsi256_ps(_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(stored), place));
  }
  DRAFTPROOF_AVX512_PART __m512 sixteen(std::size_t i) const {
    const __m256i stored = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(first + i));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(stored), 16));
  }
#endif
};

template <>
struct FloatReader<Half> {
  const Half* first;

  float one(std::size_t i) const { return first[i]; }
  DRAFTPROOF_INLINE void prefetch(std::size_t i) const { fetch<32 * sizeof(float)>(first + i); }
#if DRAFTPROOF_WIDE
  DRAFTPROOF_AVX2_PART __m256 eight(std::size_t i) const {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(first + i)));
  }
  DRAFTPROOF_AVX512_PART __m512 sixteen(std::size_t i) const {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(first + i)));
  }
#endif
};

}  // namespace draftproof::wide
