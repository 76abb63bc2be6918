// Lower bounds on the time of the library's passes over rows: a pass that only reads the same bytes, and passes that
// compute the same sum in floating point.
//
//   read(row, n)           exclusive or of the bits of n floats, the minimum of a pass that reads them
//   float_sums(p, q, b)    sum of (p - b q)+ in float, with the terms of fresh rows and one partial sum per block:
//                          comparing it with a pass shows the extra cost of integer sums
//   double_sums(p, q, b)   the same with terms and sums in double: the comparison shows the cost of terms in double
//
// Cost: each function reads 8 V bytes per pair of rows, in 512-bit registers if the processor has them, else in the
// compiler's code for a plain loop. This code is separate from the library, so that a change there does not change the
// lower bound.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <draftproof/sim/simd/dispatch.hpp>
#include <draftproof/sim/simd/float_residual_terms.hpp>
#include <draftproof/sim/simd/readers.hpp>

namespace draftproof::benchmarks {

inline std::uint64_t plain_read(const float* row, std::size_t size) {
  const auto* words = reinterpret_cast<const unsigned char*>(row);
  std::uint64_t all = 0;
  for (std::size_t i = 0; i + 8 <= size * sizeof(float); i += 8) {
    std::uint64_t word;
    __builtin_memcpy(&word, words + i, sizeof word);
    all ^= word;
  }
  return all;
}

inline double plain_double_sums(const float* p, const float* q, double b, std::size_t size, double* partial) {
  double total = 0;
  for (std::size_t start = 0; start < size; start += 1024) {
    double sum = 0;
    for (std::size_t i = start; i < std::min(start + 1024, size); ++i)
      sum += std::max(double{p[i]} - b * double{q[i]}, 0.0);
    total += * partial++ = sum;
  }
  return total;
}

inline double plain_float_sums(const float* p, const float* q, double b, std::size_t size, double* partial) {
  const FloatFactor factor(b);
  double total = 0;
  for (std::size_t start = 0; start < size; start += 1024) {
    float sum = 0;
    for (std::size_t i = start; i < std::min(start + 1024, size); ++i) sum += factor.above(p[i], q[i]);
    total += * partial++ = double{sum};
  }
  return total;
}

#if DRAFTPROOF_WIDE
// Unrolled by hand, because g++ at -O2 keeps an array of registers in memory.
DRAFTPROOF_AVX512 inline std::uint64_t wide_read(const float* row, std::size_t size) {
  __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;
  std::size_t i = 0;
  for (; i + 64 <= size; i += 64) {
    simd::fetch<256>(row + i + 2 * simd::ahead);
    a = _mm512_xor_si512(a, _mm512_loadu_si512(row + i));
    b = _mm512_xor_si512(b, _mm512_loadu_si512(row + i + 16));
    c = _mm512_xor_si512(c, _mm512_loadu_si512(row + i + 32));
    d = _mm512_xor_si512(d, _mm512_loadu_si512(row + i + 48));
  }
  const __m512i all = _mm512_xor_si512(_mm512_xor_si512(a, b), _mm512_xor_si512(c, d));
  return static_cast<std::uint64_t>(_mm512_reduce_add_epi64(all)) ^ plain_read(row + i, size - i);
}

DRAFTPROOF_AVX512_PART __m512d double_terms(const float* p, const float* q, __m512d b) {
  const __m512d target = _mm512_cvtps_pd(_mm256_loadu_ps(p)), proposal = _mm512_cvtps_pd(_mm256_loadu_ps(q));
  return _mm512_max_pd(_mm512_fnmadd_pd(b, proposal, target), _mm512_setzero_pd());
}

DRAFTPROOF_AVX512 inline double wide_double_sums(const float* p, const float* q, double b, std::size_t size,
                                                 double* partial) {
  const __m512d factor = _mm512_set1_pd(b), zero = _mm512_setzero_pd();
  double total = 0;
  for (std::size_t start = 0; start < size; start += 1024) {
    const std::size_t end = std::min(start + 1024, size), whole = start + (end - start) / 32 * 32;
    __m512d first = zero, second = zero, third = zero, fourth = zero;
    for (std::size_t i = start; i < whole; i += 32) {
      simd::fetch<128>(p + i + simd::ahead);
      simd::fetch<128>(q + i + simd::ahead);
      first = _mm512_add_pd(first, double_terms(p + i, q + i, factor));
      second = _mm512_add_pd(second, double_terms(p + i + 8, q + i + 8, factor));
      third = _mm512_add_pd(third, double_terms(p + i + 16, q + i + 16, factor));
      fourth = _mm512_add_pd(fourth, double_terms(p + i + 24, q + i + 24, factor));
    }
    double rest = 0;
    for (std::size_t i = whole; i < end; ++i) rest += std::max(double{p[i]} - b * double{q[i]}, 0.0);
    const __m512d all = _mm512_add_pd(_mm512_add_pd(first, second), _mm512_add_pd(third, fourth));
    total += * partial++ = _mm512_reduce_add_pd(all) + rest;
  }
  return total;
}

DRAFTPROOF_AVX512 inline double wide_float_sums(const float* p, const float* q, double b, std::size_t size,
                                                double* partial) {
  const simd::FloatResidualTerm<float> term(p, q, b);
  double total = 0;
  for (std::size_t start = 0; start < size; start += 1024) {
    const std::size_t end = std::min(start + 1024, size), whole = start + (end - start) / 64 * 64;
    __m512 first = _mm512_setzero_ps(), second = first, third = first, fourth = first;
    for (std::size_t i = start; i < whole; i += 64) {
      term.fetch(i);
      term.fetch(i + 32);
      first = _mm512_add_ps(first, term.load16(i));
      second = _mm512_add_ps(second, term.load16(i + 16));
      third = _mm512_add_ps(third, term.load16(i + 32));
      fourth = _mm512_add_ps(fourth, term.load16(i + 48));
    }
    double rest = 0;
    for (std::size_t i = whole; i < end; ++i) rest += term.one(i);
    const __m512 all = _mm512_add_ps(_mm512_add_ps(first, second), _mm512_add_ps(third, fourth));
    total += * partial++ = double{_mm512_reduce_add_ps(all)} + rest;
  }
  return total;
}
#endif

inline std::uint64_t read(const float* row, std::size_t size) {
#if DRAFTPROOF_WIDE
  if (simd::widest() == simd::Width::avx512) return wide_read(row, size);
#endif
  return plain_read(row, size);
}

inline double double_sums(const float* p, const float* q, double b, std::size_t size, double* partial) {
#if DRAFTPROOF_WIDE
  if (simd::widest() == simd::Width::avx512) return wide_double_sums(p, q, b, size, partial);
#endif
  return plain_double_sums(p, q, b, size, partial);
}

/// Requires: b <= 2^100 (fits() of short_float.hpp).
inline double float_sums(const float* p, const float* q, double b, std::size_t size, double* partial) {
#if DRAFTPROOF_WIDE
  if (simd::widest() == simd::Width::avx512) return wide_float_sums(p, q, b, size, partial);
#endif
  return plain_float_sums(p, q, b, size, partial);
}

}  // namespace draftproof::benchmarks
