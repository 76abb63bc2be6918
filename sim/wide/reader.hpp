// A row as passes read it: entries of some format become doubles, one, four or eight at a time. A format that passes
// do not know yet needs a specialisation here and nothing else.
//
//   one(i)     entry i                       double
//   four(i)    entries i .. i + 3            256-bit register
//   eight(i)   entries i .. i + 7            512-bit register
//
// A reader is copied into a pass, so it may carry what it needs beside the pointer. All three must give the same
// doubles: conversions are exact, or the same operations in the same order.
#pragma once

#include <cstddef>

#include <draftproof/sim/wide/target.hpp>

namespace draftproof::wide {

template <class Entry>
struct Reader;

template <>
struct Reader<float> {
  const float* first;

  double one(std::size_t i) const { return double{first[i]}; }
#if DRAFTPROOF_WIDE
  DRAFTPROOF_AVX2_PART __m256d four(std::size_t i) const { return _mm256_cvtps_pd(_mm_loadu_ps(first + i)); }
  DRAFTPROOF_AVX512_PART __m512d eight(std::size_t i) const { return _mm512_cvtps_pd(_mm256_loadu_ps(first + i)); }
#endif
};

template <>
struct Reader<double> {
  const double* first;

  double one(std::size_t i) const { return first[i]; }
#if DRAFTPROOF_WIDE
  DRAFTPROOF_AVX2_PART __m256d four(std::size_t i) const { return _mm256_loadu_pd(first + i); }
  DRAFTPROOF_AVX512_PART __m512d eight(std::size_t i) const { return _mm512_loadu_pd(first + i); }
#endif
};

}  // namespace draftproof::wide
