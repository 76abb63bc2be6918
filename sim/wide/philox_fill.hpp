// Philox blocks of many trials at one slot and purpose at a time: what philox_pair gives one by one.
//
//   first, second    the two 64-bit words of each block, an array each
//   lane             one trial; its 32-bit words sit in the low halves of 64-bit lanes
//
// Cost: a round is two multiplications, two shifts and the exclusive ors for 4 (AVX2) or 8 (AVX-512) trials; four
// independent chains hide the ten rounds' latency. Right because the widening multiplication reads low halves only,
// so whatever the upper halves gather is never seen: they are cut off when words are put together.
#pragma once

#include <cstdint>

#include <draftproof/sim/philox4x32.hpp>
#include <draftproof/sim/wide/width.hpp>

namespace draftproof::wide {

inline void philox_fill_scalar(std::uint64_t seed, const std::uint64_t* trials, int count, std::uint32_t slot,
                               std::uint32_t purpose, std::uint64_t* first, std::uint64_t* second) {
  for (int t = 0; t < count; ++t) {
    const PhiloxPair pair = philox_pair(seed, trials[t], slot, purpose);
    first[t] = pair.first;
    second[t] = pair.second;
  }
}

#if DRAFTPROOF_WIDE
namespace detail {

inline constexpr int philox_multiplier0 = static_cast<int>(0xD2511F53u),
                     philox_multiplier1 = static_cast<int>(0xCD9E8D57u);
inline constexpr int philox_weyl0 = static_cast<int>(0x9E3779B9u), philox_weyl1 = static_cast<int>(0xBB67AE85u);

struct PhiloxLanes256 {
  __m256i word0, word1, word2, word3;
};
struct PhiloxLanes512 {
  __m512i word0, word1, word2, word3;
};

DRAFTPROOF_AVX2_PART PhiloxLanes256 philox_start(__m256i trial, std::uint32_t slot, std::uint32_t purpose) {
  return {trial, _mm256_srli_epi64(trial, 32), _mm256_set1_epi64x(slot), _mm256_set1_epi64x(purpose)};
}
DRAFTPROOF_AVX2_PART void philox_round(PhiloxLanes256& x, __m256i key0, __m256i key1) {
  const __m256i product0 = _mm256_mul_epu32(x.word0, _mm256_set1_epi32(philox_multiplier0));
  const __m256i product1 = _mm256_mul_epu32(x.word2, _mm256_set1_epi32(philox_multiplier1));
  x.word0 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(product1, 32), key0), x.word1);
  x.word2 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(product0, 32), key1), x.word3);
  x.word1 = product1;
  x.word3 = product0;
}
DRAFTPROOF_AVX2_PART void philox_store(const PhiloxLanes256& x, std::uint64_t* first, std::uint64_t* second) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(first),
                      _mm256_blend_epi32(x.word0, _mm256_slli_epi64(x.word1, 32), 0xAA));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(second),
                      _mm256_blend_epi32(x.word2, _mm256_slli_epi64(x.word3, 32), 0xAA));
}

DRAFTPROOF_AVX512_PART PhiloxLanes512 philox_start(__m512i trial, std::uint32_t slot, std::uint32_t purpose) {
  return {trial, _mm512_srli_epi64(trial, 32), _mm512_set1_epi64(slot), _mm512_set1_epi64(purpose)};
}
DRAFTPROOF_AVX512_PART void philox_round(PhiloxLanes512& x, __m512i key0, __m512i key1) {
  constexpr int exclusive_or = 0x96;  // of three operands
  const __m512i product0 = _mm512_mul_epu32(x.word0, _mm512_set1_epi32(philox_multiplier0));
  const __m512i product1 = _mm512_mul_epu32(x.word2, _mm512_set1_epi32(philox_multiplier1));
  x.word0 = _mm512_ternarylogic_epi64(_mm512_srli_epi64(product1, 32), key0, x.word1, exclusive_or);
  x.word2 = _mm512_ternarylogic_epi64(_mm512_srli_epi64(product0, 32), key1, x.word3, exclusive_or);
  x.word1 = product1;
  x.word3 = product0;
}
DRAFTPROOF_AVX512_PART void philox_store(const PhiloxLanes512& x, std::uint64_t* first, std::uint64_t* second) {
  _mm512_storeu_si512(first, _mm512_mask_blend_epi32(0xAAAA, x.word0, _mm512_slli_epi64(x.word1, 32)));
  _mm512_storeu_si512(second, _mm512_mask_blend_epi32(0xAAAA, x.word2, _mm512_slli_epi64(x.word3, 32)));
}

}  // namespace detail

DRAFTPROOF_AVX2 inline void philox_fill_avx2(std::uint64_t seed, const std::uint64_t* trials, int count,
                                             std::uint32_t slot, std::uint32_t purpose, std::uint64_t* first,
                                             std::uint64_t* second) {
  using namespace detail;
  constexpr int lanes = 4, chains = 2;  // sixteen registers hold two chains with their keys and multipliers
  const __m256i step0 = _mm256_set1_epi32(philox_weyl0), step1 = _mm256_set1_epi32(philox_weyl1);
  int t = 0;
  for (; t + lanes * chains <= count; t += lanes * chains) {
    const auto* const at = reinterpret_cast<const __m256i*>(trials + t);
    PhiloxLanes256 a = philox_start(_mm256_loadu_si256(at), slot, purpose);
    PhiloxLanes256 b = philox_start(_mm256_loadu_si256(at + 1), slot, purpose);
    __m256i key0 = _mm256_set1_epi32(static_cast<int>(seed)), key1 = _mm256_set1_epi32(static_cast<int>(seed >> 32));
    for (int round = 0; round < 10; ++round) {
      philox_round(a, key0, key1);
      philox_round(b, key0, key1);
      key0 = _mm256_add_epi32(key0, step0);
      key1 = _mm256_add_epi32(key1, step1);
    }
    philox_store(a, first + t, second + t);
    philox_store(b, first + t + lanes, second + t + lanes);
  }
  philox_fill_scalar(seed, trials + t, count - t, slot, purpose, first + t, second + t);
}

DRAFTPROOF_AVX512 inline void philox_fill_avx512(std::uint64_t seed, const std::uint64_t* trials, int count,
                                                 std::uint32_t slot, std::uint32_t purpose, std::uint64_t* first,
                                                 std::uint64_t* second) {
  using namespace detail;
  constexpr int lanes = 8, chains = 4;
  const __m512i step0 = _mm512_set1_epi32(philox_weyl0), step1 = _mm512_set1_epi32(philox_weyl1);
  const __m512i start0 = _mm512_set1_epi32(static_cast<int>(seed)),
                start1 = _mm512_set1_epi32(static_cast<int>(seed >> 32));
  int t = 0;
  for (; t + lanes * chains <= count; t += lanes * chains) {
    PhiloxLanes512 a = philox_start(_mm512_loadu_si512(trials + t), slot, purpose);
    PhiloxLanes512 b = philox_start(_mm512_loadu_si512(trials + t + lanes), slot, purpose);
    PhiloxLanes512 c = philox_start(_mm512_loadu_si512(trials + t + 2 * lanes), slot, purpose);
    PhiloxLanes512 d = philox_start(_mm512_loadu_si512(trials + t + 3 * lanes), slot, purpose);
    __m512i key0 = start0, key1 = start1;
    for (int round = 0; round < 10; ++round) {
      philox_round(a, key0, key1);
      philox_round(b, key0, key1);
      philox_round(c, key0, key1);
      philox_round(d, key0, key1);
      key0 = _mm512_add_epi32(key0, step0);
      key1 = _mm512_add_epi32(key1, step1);
    }
    philox_store(a, first + t, second + t);
    philox_store(b, first + t + lanes, second + t + lanes);
    philox_store(c, first + t + 2 * lanes, second + t + 2 * lanes);
    philox_store(d, first + t + 3 * lanes, second + t + 3 * lanes);
  }
  for (; t + lanes <= count; t += lanes) {
    PhiloxLanes512 a = philox_start(_mm512_loadu_si512(trials + t), slot, purpose);
    __m512i key0 = start0, key1 = start1;
    for (int round = 0; round < 10; ++round) {
      philox_round(a, key0, key1);
      key0 = _mm512_add_epi32(key0, step0);
      key1 = _mm512_add_epi32(key1, step1);
    }
    philox_store(a, first + t, second + t);
  }
  philox_fill_scalar(seed, trials + t, count - t, slot, purpose, first + t, second + t);
}
#endif

inline void philox_fill(Width width, std::uint64_t seed, const std::uint64_t* trials, int count, std::uint32_t slot,
                        std::uint32_t purpose, std::uint64_t* first, std::uint64_t* second) {
#if DRAFTPROOF_WIDE
  if (width == Width::avx512) return philox_fill_avx512(seed, trials, count, slot, purpose, first, second);
  if (width == Width::avx2) return philox_fill_avx2(seed, trials, count, slot, purpose, first, second);
#endif
  (void)width;
  philox_fill_scalar(seed, trials, count, slot, purpose, first, second);
}

}  // namespace draftproof::wide
