// A row as passes read it: entries of some format become doubles, one, four or eight at a time. A format that passes
// do not know yet needs a specialisation here and nothing else.
//
//   one(i)     entry i                       double
//   four(i)    entries i .. i + 3            256-bit register
//   eight(i)   entries i .. i + 7            512-bit register
//   prefetch(i)   asks for the cache lines of entries i .. i + 31, which may lie behind the row; optional
//
// A reader is copied into a pass, so it may carry what it needs beside the pointer. All three must give the same
// doubles: conversions are exact, or the same operations in the same order.
#pragma once

#include <cstddef>

#include <draftproof/sim/wide/target.hpp>

namespace draftproof::wide {

template <class Entry>
struct Reader;

/// Asks for the cache lines of so many bytes; never faults.
template <std::size_t bytes>
DRAFTPROOF_INLINE void fetch(const void* from) {
  __builtin_prefetch(from);
  if constexpr (bytes > 64) fetch<bytes - 64>(static_cast<const char*>(from) + 64);
}

/// Entries so far ahead that memory has brought them when a pass arrives: 4 KB of floats. Processors look ahead on
/// their own, but not across pages.
inline constexpr std::size_t ahead = 1024;

/// Prefetches ahead of entry i, if the row knows how.
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
  DRAFTPROOF_AVX2_PART __m256d four(std::size_t i) const { return _mm256_cvtps_pd(_mm_loadu_ps(first + i)); }
  DRAFTPROOF_AVX512_PART __m512d eight(std::size_t i) const { return _mm512_cvtps_pd(_mm256_loadu_ps(first + i)); }
#endif
};

template <>
struct Reader<double> {
  const double* first;

  double one(std::size_t i) const { return first[i]; }
  DRAFTPROOF_INLINE void prefetch(std::size_t i) const { fetch<32 * sizeof(double)>(first + i); }
#if DRAFTPROOF_WIDE
  DRAFTPROOF_AVX2_PART __m256d four(std::size_t i) const { return _mm256_loadu_pd(first + i); }
  DRAFTPROOF_AVX512_PART __m512d eight(std::size_t i) const { return _mm512_loadu_pd(first + i); }
#endif
};

}  // namespace draftproof::wide
