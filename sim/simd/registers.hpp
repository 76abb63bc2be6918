// The registers of loops that are written once for both widths (each_width.hpp): the same names in the namespaces
// avx2 and avx512. Compilers apply the operators + - * / < & | ^ << ?: to vectors, lane by lane.
//
//   Floats, Words              registers of 32-bit floats and unsigned integers; `floats` lanes each
//   Doubles, Longs             registers of 64-bit doubles and unsigned integers; `doubles` lanes each
//   all(x)                     x in every lane
//   load<R>(from), store()     from and to memory, at any address
//   as<R>(x)                   the same bits as another type of register
//   max(), min(), largest(x)   lane by lane; and the greatest lane of one register
//   fma(a, b, c)               a b + c, rounded once
//   rounded(x)                 doubles to floats, half a register
//   floats_at(row, i)          a register of entries from i on: row.load8(i) or row.load16(i)
//   doubles_at(row, i)         a register of entries from i on: row.load4(i) or row.load8(i)
//
// Without -ffp-contract=off, which draftproof's CMake targets pass to their users, compilers may round a * b + c once
// instead of twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <draftproof/sim/simd/dispatch.hpp>

#if DRAFTPROOF_WIDE
namespace draftproof::simd {

namespace avx2 {
using Floats = __m256;
using Doubles = __m256d;
using Words [[gnu::vector_size(32)]] = std::uint32_t;
using Longs [[gnu::vector_size(32)]] = std::uint64_t;

DRAFTPROOF_AVX2_PART Floats all(float x) { return _mm256_set1_ps(x); }
DRAFTPROOF_AVX2_PART Doubles all(double x) { return _mm256_set1_pd(x); }
DRAFTPROOF_AVX2_PART Floats max(Floats a, Floats b) { return _mm256_max_ps(a, b); }
DRAFTPROOF_AVX2_PART Floats min(Floats a, Floats b) { return _mm256_min_ps(a, b); }
DRAFTPROOF_AVX2_PART Floats fma(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
DRAFTPROOF_AVX2_PART __m128 rounded(Doubles x) { return _mm256_cvtpd_ps(x); }
DRAFTPROOF_AVX2_PART float largest(Floats x) {
  __m128 four = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  four = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(four, _mm_movehdup_ps(four)));
}
template <class Row>
DRAFTPROOF_AVX2_PART Floats floats_at(const Row& row, std::size_t i) {
  return row.load8(i);
}
template <class Row>
DRAFTPROOF_AVX2_PART Doubles doubles_at(const Row& row, std::size_t i) {
  return row.load4(i);
}
}  // namespace avx2

namespace avx512 {
using Floats = __m512;
using Doubles = __m512d;
using Words [[gnu::vector_size(64)]] = std::uint32_t;
using Longs [[gnu::vector_size(64)]] = std::uint64_t;

DRAFTPROOF_AVX512_PART Floats all(float x) { return _mm512_set1_ps(x); }
DRAFTPROOF_AVX512_PART Doubles all(double x) { return _mm512_set1_pd(x); }
DRAFTPROOF_AVX512_PART Floats max(Floats a, Floats b) { return _mm512_max_ps(a, b); }
DRAFTPROOF_AVX512_PART Floats min(Floats a, Floats b) { return _mm512_min_ps(a, b); }
DRAFTPROOF_AVX512_PART Floats fma(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
DRAFTPROOF_AVX512_PART __m256 rounded(Doubles x) { return _mm512_cvtpd_ps(x); }
DRAFTPROOF_AVX512_PART float largest(Floats x) { return _mm512_reduce_max_ps(x); }
template <class Row>
DRAFTPROOF_AVX512_PART Floats floats_at(const Row& row, std::size_t i) {
  return row.load16(i);
}
template <class Row>
DRAFTPROOF_AVX512_PART Doubles doubles_at(const Row& row, std::size_t i) {
  return row.load8(i);
}
}  // namespace avx512

}  // namespace draftproof::simd

#define DRAFTPROOF_BODY <draftproof/sim/simd/registers_body.hpp>
#include <draftproof/sim/simd/each_width.hpp>
#endif
