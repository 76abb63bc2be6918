// Philox4x32-10 in lanes of wide registers: what philox4x32.hpp does to one counter, to four or eight of them.
//
//   lane       64 bits a block, of which the lower half counts: the widening multiplication reads no other, and what
//              its products leave in upper halves is cut off when words are put together
//   first()    words 0 and 1 of each block as one 64-bit word; second() words 2 and 3
//   rounds     all ten, on several registers at once: one's multiplications hide the latency of another's
//
// Cost: a round is two multiplications, two shifts and the exclusive ors. The same bits at every width: a lane is a
// whole block, and integers do not round.
#pragma once

#include <cstdint>

#include <draftproof/sim/wide/target.hpp>

#if DRAFTPROOF_WIDE

namespace draftproof::wide {

struct PhiloxLanes256 {
  __m256i word0, word1, word2, word3;

  DRAFTPROOF_AVX2_PART void round(std::uint32_t key0, std::uint32_t key1) {
    const __m256i product0 = _mm256_mul_epu32(word0, all(0xD2511F53u));
    const __m256i product1 = _mm256_mul_epu32(word2, all(0xCD9E8D57u));
    word0 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(product1, 32), all(key0)), word1);
    word2 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(product0, 32), all(key1)), word3);
    word1 = product1;
    word3 = product0;
  }
  DRAFTPROOF_AVX2_PART __m256i first() const { return _mm256_blend_epi32(word0, _mm256_slli_epi64(word1, 32), 0xAA); }
  DRAFTPROOF_AVX2_PART __m256i second() const {
    return _mm256_blend_epi32(word2, _mm256_slli_epi64(word3, 32), 0xAA);
  }

 private:
  DRAFTPROOF_AVX2_PART static __m256i all(std::uint32_t value) { return _mm256_set1_epi32(static_cast<int>(value)); }
};

struct PhiloxLanes512 {
  __m512i word0, word1, word2, word3;

  DRAFTPROOF_AVX512_PART void round(std::uint32_t key0, std::uint32_t key1) {
    constexpr int exclusive_or = 0x96;  // of three operands
    const __m512i product0 = _mm512_mul_epu32(word0, all(0xD2511F53u));
    const __m512i product1 = _mm512_mul_epu32(word2, all(0xCD9E8D57u));
    word0 = _mm512_ternarylogic_epi64(_mm512_srli_epi64(product1, 32), all(key0), word1, exclusive_or);
    word2 = _mm512_ternarylogic_epi64(_mm512_srli_epi64(product0, 32), all(key1), word3, exclusive_or);
    word1 = product1;
    word3 = product0;
  }
  DRAFTPROOF_AVX512_PART __m512i first() const {
    return _mm512_mask_blend_epi32(0xAAAA, word0, _mm512_slli_epi64(word1, 32));
  }
  DRAFTPROOF_AVX512_PART __m512i second() const {
    return _mm512_mask_blend_epi32(0xAAAA, word2, _mm512_slli_epi64(word3, 32));
  }

 private:
  DRAFTPROOF_AVX512_PART static __m512i all(std::uint32_t value) {
    return _mm512_set1_epi32(static_cast<int>(value));
  }
};

/// `Lanes` are all of the same width.
template <class... Lanes>
DRAFTPROOF_AVX2_PART void philox_rounds256(std::uint64_t seed, Lanes&... lanes) {
  auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    (lanes.round(key0, key1), ...);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
}
template <class... Lanes>
DRAFTPROOF_AVX512_PART void philox_rounds512(std::uint64_t seed, Lanes&... lanes) {
  auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    (lanes.round(key0, key1), ...);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
}

}  // namespace draftproof::wide

#endif
