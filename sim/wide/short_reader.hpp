// Rows of 16-bit entries as passes read them (reader.hpp): widened to floats (float_reader.hpp), then to doubles,
// both exactly.
#pragma once

#include <cstddef>

#include <draftproof/sim/wide/float_reader.hpp>
#include <draftproof/sim/wide/reader.hpp>

namespace draftproof::wide {

template <>
struct Reader<Bfloat16> {
  const Bfloat16* first;

  double one(std::size_t i) const { return first[i]; }
#if DRAFTPROOF_WIDE
  DRAFTPROOF_AVX2_PART __m256d four(std::size_t i) const {
    const __m128i stored = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(first + i));
    return _mm256_cvtps_pd(_mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), stored)));
  }
  DRAFTPROOF_AVX512_PART __m512d eight(std::size_t i) const {
    return _mm512_cvtps_pd(FloatReader<Bfloat16>{first}.eight(i));
  }
#endif
};

template <>
struct Reader<Half> {
  const Half* first;

  double one(std::size_t i) const { return first[i]; }
#if DRAFTPROOF_WIDE
  DRAFTPROOF_AVX2_PART __m256d four(std::size_t i) const {
    return _mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(first + i))));
  }
  DRAFTPROOF_AVX512_PART __m512d eight(std::size_t i) const {
    return _mm512_cvtps_pd(FloatReader<Half>{first}.eight(i));
  }
#endif
};

}  // namespace draftproof::wide
