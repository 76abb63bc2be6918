// Philox4x32-10 in lanes of wide registers: the function of philox4x32.hpp on four or eight counters at a time.
//
//   lane       64 bits a block, of which the lower half counts: the widening multiplication reads no other half, and
//              combining words discards the upper halves
//   first()    words 0 and 1 of each block as one 64-bit word; second() words 2 and 3
//   rounds     all ten, on several registers at once: the multiplications of one hide the latency of another
//
// Cost: a round is two multiplications, two shifts and the exclusive ors.
// Correctness: the words are the same at every width, because a lane is a whole block and integers do not round.
#pragma once

#include <cstddef>
#include <cstdint>

#include <draftproof/sim/random/philox4x32.hpp>
#include <draftproof/sim/simd/dispatch.hpp>

#if DRAFTPROOF_WIDE

namespace draftproof::simd {

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

/// The ten rounds on registers of one width.
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

}  // namespace draftproof::simd

#endif

namespace draftproof {

// Many consecutive blocks of Philox4x32-10 at once: the words of philox4x32.hpp, in the widest registers of the
// processor.
//
//   words[4 i + j]   word j of the block at (seed, trial, slot + i, purpose)
//   width            two runs of 8 blocks with AVX-512, of 4 with AVX2, or the scalar form
//
// Cost: 0.5 ns a word with 8 lanes on a Sapphire Rapids Xeon, against 4 in the scalar form.
// Correctness: the words are the same at every width, because lanes are whole blocks.

/// Address of the first of a run of blocks.
struct PhiloxRun {
  std::uint64_t seed, trial;
  std::uint32_t slot, purpose;
};

namespace detail {

inline void philox_words_scalar(const PhiloxRun& run, std::size_t from, std::size_t count, std::uint32_t* words) {
  for (std::size_t i = from; i < count; ++i) {
    const PhiloxBlock block =
        philox4x32({{static_cast<std::uint32_t>(run.trial), static_cast<std::uint32_t>(run.trial >> 32),
                     run.slot + static_cast<std::uint32_t>(i), run.purpose}},
                   static_cast<std::uint32_t>(run.seed), static_cast<std::uint32_t>(run.seed >> 32));
    for (std::size_t j = 0; j < 4; ++j) words[4 * i + j] = block.word[j];
  }
}

#if DRAFTPROOF_WIDE

DRAFTPROOF_AVX512_PART simd::PhiloxLanes512 philox_slots512(const PhiloxRun& run, std::size_t from) {
  return {_mm512_set1_epi64(static_cast<long long>(run.trial)),
          _mm512_set1_epi64(static_cast<long long>(run.trial >> 32)),
          _mm512_add_epi32(_mm512_set1_epi64(run.slot + static_cast<std::uint32_t>(from)),
                           _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7)),
          _mm512_set1_epi64(run.purpose)};
}
/// Stores words 0 .. 3 of eight blocks, in the order of the blocks.
DRAFTPROOF_AVX512_PART void philox_store_words(const simd::PhiloxLanes512& x, std::uint32_t* out) {
  const __m512i lower_half = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
  const __m512i upper_half = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
  _mm512_storeu_si512(out, _mm512_permutex2var_epi64(x.first(), lower_half, x.second()));
  _mm512_storeu_si512(out + 16, _mm512_permutex2var_epi64(x.first(), upper_half, x.second()));
}

DRAFTPROOF_AVX2_PART simd::PhiloxLanes256 philox_slots256(const PhiloxRun& run, std::size_t from) {
  return {_mm256_set1_epi64x(static_cast<long long>(run.trial)),
          _mm256_set1_epi64x(static_cast<long long>(run.trial >> 32)),
          _mm256_add_epi32(_mm256_set1_epi64x(run.slot + static_cast<std::uint32_t>(from)),
                           _mm256_setr_epi64x(0, 1, 2, 3)),
          _mm256_set1_epi64x(run.purpose)};
}
DRAFTPROOF_AVX2_PART void philox_store_words(const simd::PhiloxLanes256& x, std::uint32_t* out) {
  const __m256i even = _mm256_unpacklo_epi64(x.first(), x.second());
  const __m256i odd = _mm256_unpackhi_epi64(x.first(), x.second());
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_permute2x128_si256(even, odd, 0x20));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 8), _mm256_permute2x128_si256(even, odd, 0x31));
}

DRAFTPROOF_AVX512 inline std::size_t philox_words8(const PhiloxRun& run, std::size_t count, std::uint32_t* words) {
  std::size_t done = 0;
  for (; done + 16 <= count; done += 16) {
    auto a = philox_slots512(run, done), b = philox_slots512(run, done + 8);
    simd::philox_rounds512(run.seed, a, b);
    philox_store_words(a, words + 4 * done);
    philox_store_words(b, words + 4 * done + 32);
  }
  return done;
}
DRAFTPROOF_AVX2 inline std::size_t philox_words4(const PhiloxRun& run, std::size_t count, std::uint32_t* words) {
  std::size_t done = 0;
  for (; done + 8 <= count; done += 8) {
    auto a = philox_slots256(run, done), b = philox_slots256(run, done + 4);
    simd::philox_rounds256(run.seed, a, b);
    philox_store_words(a, words + 4 * done);
    philox_store_words(b, words + 4 * done + 16);
  }
  return done;
}

#endif

}  // namespace detail

/// Writes the 4 `count` words of `count` blocks.
inline void philox_words(const PhiloxRun& run, std::size_t count, std::uint32_t* words,
                         simd::Width width = simd::in_use()) {
  std::size_t done = 0;
#if DRAFTPROOF_WIDE
  if (width == simd::Width::avx512)
    done = detail::philox_words8(run, count, words);
  else if (width == simd::Width::avx2)
    done = detail::philox_words4(run, count, words);
#endif
  (void)width;
  detail::philox_words_scalar(run, done, count, words);
}

}  // namespace draftproof
