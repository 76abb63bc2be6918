// Readers of rows: they convert entries of a storage format to doubles, one, four or eight at a time. A new format
// needs a specialisation here and no other change.
//
//   one(i)        entry i                       double
//   load4(i)      entries i .. i + 3            256-bit register
//   load8(i)      entries i .. i + 7            512-bit register
//   prefetch(i)   prefetches the cache lines of entries i .. i + 31, even past the end of the row; optional
//
// A pass copies its reader, so a reader can hold data besides the pointer. The calls one(), load4() and load8() must
// give the same doubles, by exact conversions or by the same operations in the same order.
#pragma once

#include <cstddef>

#include <draftproof/sim/numeric/short_float.hpp>
#include <draftproof/sim/simd/dispatch.hpp>

namespace draftproof::simd {

template <class Entry>
struct Reader;

/// Prefetches the cache lines of `bytes` bytes; an invalid address causes no fault.
template <std::size_t bytes>
DRAFTPROOF_INLINE void fetch(const void* from) {
  __builtin_prefetch(from);
  if constexpr (bytes > 64) fetch<bytes - 64>(static_cast<const char*>(from) + 64);
}

/// Number of entries between a prefetch and its use, 4 KB of floats, enough for the latency of memory. Hardware
/// prefetchers do not cross pages.
inline constexpr std::size_t ahead = 1024;

/// Prefetches ahead of entry i, if the row has prefetch().
template <class Row>
DRAFTPROOF_INLINE void fetch_ahead(const Row& row, std::size_t i) {
  if constexpr (requires { row.prefetch(i); }) row.prefetch(i + ahead);
}

template <>
struct Reader<float> {
  const float* first;

  double one(std::size_t i) const { return double{first[i]}; }
  DRAFTPROOF_INLINE void prefetch(std::size_t i) const { fetch<32 * sizeof(float)>(first + i); }
#if DRAFTPROOF_WIDE
  DRAFTPROOF_AVX2_PART __m256d load4(std::size_t i) const { return _mm256_cvtps_pd(_mm_loadu_ps(first + i)); }
  DRAFTPROOF_AVX512_PART __m512d load8(std::size_t i) const { return _mm512_cvtps_pd(_mm256_loadu_ps(first + i)); }
#endif
};

template <>
struct Reader<double> {
  const double* first;

  double one(std::size_t i) const { return first[i]; }
  DRAFTPROOF_INLINE void prefetch(std::size_t i) const { fetch<32 * sizeof(double)>(first + i); }
#if DRAFTPROOF_WIDE
  DRAFTPROOF_AVX2_PART __m256d load4(std::size_t i) const { return _mm256_loadu_pd(first + i); }
  DRAFTPROOF_AVX512_PART __m512d load8(std::size_t i) const { return _mm512_loadu_pd(first + i); }
#endif
};

}  // namespace draftproof::simd

namespace draftproof::simd {

// Readers that convert entries of any storage format to floats, eight or sixteen at a time. A shift or an instruction
// of the processor converts 16-bit formats. Widening is exact, so the floats are the same at every width.
//
//   one(i)        entry i                      float
//   load8(i)      entries i .. i + 7           256-bit register
//   load16(i)     entries i .. i + 15          512-bit register
//   prefetch(i)   as in Reader; optional

template <class Entry>
struct FloatReader;

template <>
struct FloatReader<float> {
  const float* first;

  float one(std::size_t i) const { return first[i]; }
  DRAFTPROOF_INLINE void prefetch(std::size_t i) const { fetch<32 * sizeof(float)>(first + i); }
#if DRAFTPROOF_WIDE
  DRAFTPROOF_AVX2_PART __m256 load8(std::size_t i) const { return _mm256_loadu_ps(first + i); }
  DRAFTPROOF_AVX512_PART __m512 load16(std::size_t i) const { return _mm512_loadu_ps(first + i); }
#endif
};

template <>
struct FloatReader<Bfloat16> {
  const Bfloat16* first;

  float one(std::size_t i) const { return first[i]; }
  DRAFTPROOF_INLINE void prefetch(std::size_t i) const { fetch<32 * sizeof(float)>(first + i); }
#if DRAFTPROOF_WIDE
  /// Loads all eight entries into both halves of the register; one shuffle moves four of them to the upper bytes of
  /// the floats of each half.
  DRAFTPROOF_AVX2_PART __m256 load8(std::size_t i) const {
    const __m128i stored = _mm_loadu_si128(reinterpret_cast<const __m128i*>(first + i));
    constexpr char none = -1;
    const __m256i place =
        _mm256_setr_epi8(none, none, 0, 1, none, none, 2, 3, none, none, 4, 5, none, none, 6, 7,  //
                         none, none, 8, 9, none, none, 10, 11, none, none, 12, 13, none, none, 14, 15);
    return _mm256_castsi256_ps(_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(stored), place));
  }
  DRAFTPROOF_AVX512_PART __m512 load16(std::size_t i) const {
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
  DRAFTPROOF_AVX2_PART __m256 load8(std::size_t i) const {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(first + i)));
  }
  DRAFTPROOF_AVX512_PART __m512 load16(std::size_t i) const {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(first + i)));
  }
#endif
};

}  // namespace draftproof::simd

namespace draftproof::simd {

// Readers of 16-bit entries, which are widened to floats and then to doubles, both exactly.

template <>
struct Reader<Bfloat16> {
  const Bfloat16* first;

  double one(std::size_t i) const { return first[i]; }
#if DRAFTPROOF_WIDE
  DRAFTPROOF_AVX2_PART __m256d load4(std::size_t i) const {
    const __m128i stored = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(first + i));
    return _mm256_cvtps_pd(_mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), stored)));
  }
  DRAFTPROOF_AVX512_PART __m512d load8(std::size_t i) const {
    return _mm512_cvtps_pd(FloatReader<Bfloat16>{first}.load8(i));
  }
#endif
};

template <>
struct Reader<Half> {
  const Half* first;

  double one(std::size_t i) const { return first[i]; }
#if DRAFTPROOF_WIDE
  DRAFTPROOF_AVX2_PART __m256d load4(std::size_t i) const {
    return _mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(first + i))));
  }
  DRAFTPROOF_AVX512_PART __m512d load8(std::size_t i) const {
    return _mm512_cvtps_pd(FloatReader<Half>{first}.load8(i));
  }
#endif
};

}  // namespace draftproof::simd
