// The floor of a pass over rows: a plain read of the same bytes, in the widest registers in use, nothing computed but
// what keeps the compiler from leaving it out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <draftproof/sim/wide/width.hpp>

namespace draftproof::benchmarks {

#if DRAFTPROOF_WIDE
DRAFTPROOF_AVX2 inline std::uint64_t avx2_read(const std::byte* bytes, std::size_t count) {
  __m256i seen[4] = {};
  for (std::size_t i = 0; i < count; i += 128)
    for (std::size_t j = 0; j < 4; ++j)
      seen[j] = _mm256_or_si256(seen[j], _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + i + 32 * j)));
  const __m256i all = _mm256_or_si256(_mm256_or_si256(seen[0], seen[1]), _mm256_or_si256(seen[2], seen[3]));
  return static_cast<std::uint64_t>(_mm256_extract_epi64(all, 0));
}
DRAFTPROOF_AVX512 inline std::uint64_t avx512_read(const std::byte* bytes, std::size_t count) {
  __m512i seen[4] = {};
  for (std::size_t i = 0; i < count; i += 256)
    for (std::size_t j = 0; j < 4; ++j) seen[j] = _mm512_or_si512(seen[j], _mm512_loadu_si512(bytes + i + 64 * j));
  const __m512i all = _mm512_or_si512(_mm512_or_si512(seen[0], seen[1]), _mm512_or_si512(seen[2], seen[3]));
  return static_cast<std::uint64_t>(_mm512_reduce_or_epi64(all));
}
#endif

/// Reads `count` bytes but for a rest below 256.
inline std::uint64_t plain_read(const void* data, std::size_t count) {
  const auto* bytes = static_cast<const std::byte*>(data);
  count -= count % 256;
#if DRAFTPROOF_WIDE
  if (wide::in_use() == wide::Width::avx512) return avx512_read(bytes, count);
  if (wide::in_use() == wide::Width::avx2) return avx2_read(bytes, count);
#endif
  std::uint64_t seen = 0, word;
  for (std::size_t i = 0; i < count; i += sizeof word) {
    std::memcpy(&word, bytes + i, sizeof word);
    seen |= word;
  }
  return seen;
}

}  // namespace draftproof::benchmarks
