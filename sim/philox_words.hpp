// Many consecutive blocks of Philox4x32-10 at once: the words of philox4x32.hpp, in the widest registers that the
// processor has.
//
//   words[4 i + j]   word j of the block at (seed, trial, slot + i, purpose)
//   lanes            64 bits a block, of which the lower half counts: a product of 32-bit words fills one, and what
//                    it leaves in the upper half no later product reads
//   width            8 lanes with AVX-512, 4 with AVX2, or the scalar twin (wide/width.hpp)
//
// Cost: 0.5 ns a word with 8 lanes on a Sapphire Rapids Xeon, where the scalar form takes 4. The same bits at every
// width, because lanes are whole blocks and integers do not round.
#pragma once

#include <cstddef>
#include <cstdint>

#include <draftproof/sim/philox4x32.hpp>
#include <draftproof/sim/wide/width.hpp>

namespace draftproof {

/// Where a run of blocks starts.
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

/// What the rounds need of a register of 64-bit lanes.
struct Lanes8 {
  using Register = __m512i;
  static constexpr std::size_t count = 8;
  DRAFTPROOF_AVX512_PART static Register all(std::uint32_t value) {
    return _mm512_set1_epi64(static_cast<long long>(value));
  }
  DRAFTPROOF_AVX512_PART static Register from(std::uint32_t slot) {
    return _mm512_add_epi32(all(slot), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
  }
  DRAFTPROOF_AVX512_PART static Register product(Register a, Register b) { return _mm512_mul_epu32(a, b); }
  DRAFTPROOF_AVX512_PART static Register upper(Register a) { return _mm512_srli_epi64(a, 32); }
  DRAFTPROOF_AVX512_PART static Register mix(Register a, Register b, Register c) {
    return _mm512_ternarylogic_epi64(a, b, c, 0x96);  // a xor b xor c
  }
  /// Words 0 .. 3 of eight blocks, in the order of the blocks.
  DRAFTPROOF_AVX512_PART static void store(const Register* word, std::uint32_t* out) {
    const Register low = _mm512_set1_epi64(0xFFFFFFFF);
    const Register first = _mm512_or_si512(_mm512_and_si512(word[0], low), _mm512_slli_epi64(word[1], 32));
    const Register second = _mm512_or_si512(_mm512_and_si512(word[2], low), _mm512_slli_epi64(word[3], 32));
    const Register lower_half = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const Register upper_half = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    _mm512_storeu_si512(out, _mm512_permutex2var_epi64(first, lower_half, second));
    _mm512_storeu_si512(out + 16, _mm512_permutex2var_epi64(first, upper_half, second));
  }
};

struct Lanes4 {
  using Register = __m256i;
  static constexpr std::size_t count = 4;
  DRAFTPROOF_AVX2_PART static Register all(std::uint32_t value) {
    return _mm256_set1_epi64x(static_cast<long long>(value));
  }
  DRAFTPROOF_AVX2_PART static Register from(std::uint32_t slot) {
    return _mm256_add_epi32(all(slot), _mm256_setr_epi64x(0, 1, 2, 3));
  }
  DRAFTPROOF_AVX2_PART static Register product(Register a, Register b) { return _mm256_mul_epu32(a, b); }
  DRAFTPROOF_AVX2_PART static Register upper(Register a) { return _mm256_srli_epi64(a, 32); }
  DRAFTPROOF_AVX2_PART static Register mix(Register a, Register b, Register c) {
    return _mm256_xor_si256(_mm256_xor_si256(a, b), c);
  }
  DRAFTPROOF_AVX2_PART static void store(const Register* word, std::uint32_t* out) {
    const Register low = _mm256_set1_epi64x(0xFFFFFFFF);
    const Register first = _mm256_or_si256(_mm256_and_si256(word[0], low), _mm256_slli_epi64(word[1], 32));
    const Register second = _mm256_or_si256(_mm256_and_si256(word[2], low), _mm256_slli_epi64(word[3], 32));
    const Register even = _mm256_unpacklo_epi64(first, second), odd = _mm256_unpackhi_epi64(first, second);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 8), _mm256_permute2x128_si256(even, odd, 0x31));
  }
};

// One body for both widths, with the instructions of each: a macro, because an attribute is no template argument.
// Two runs of lanes are in flight, so that one's products hide the latency of the other's.
#define DRAFTPROOF_PHILOX_WORDS(name, Lanes, instructions)                                                    \
  instructions inline std::size_t name(const PhiloxRun& run, std::size_t count, std::uint32_t* words) {       \
    constexpr std::size_t streams = 2, step = streams * Lanes::count;                                         \
    std::size_t done = 0;                                                                                     \
    for (; done + step <= count; done += step) {                                                              \
      Lanes::Register word[streams][4];                                                                       \
      for (std::size_t s = 0; s < streams; ++s) {                                                             \
        word[s][0] = Lanes::all(static_cast<std::uint32_t>(run.trial));                                       \
        word[s][1] = Lanes::all(static_cast<std::uint32_t>(run.trial >> 32));                                 \
        word[s][2] = Lanes::from(run.slot + static_cast<std::uint32_t>(done + s * Lanes::count));             \
        word[s][3] = Lanes::all(run.purpose);                                                                 \
      }                                                                                                       \
      auto key0 = static_cast<std::uint32_t>(run.seed), key1 = static_cast<std::uint32_t>(run.seed >> 32);    \
      for (int round = 0; round < 10; ++round) {                                                              \
        for (auto& w : word) {                                                                                \
          const auto product0 = Lanes::product(w[0], Lanes::all(0xD2511F53u));                                \
          const auto product1 = Lanes::product(w[2], Lanes::all(0xCD9E8D57u));                                \
          w[0] = Lanes::mix(Lanes::upper(product1), w[1], Lanes::all(key0));                                  \
          w[2] = Lanes::mix(Lanes::upper(product0), w[3], Lanes::all(key1));                                  \
          w[1] = product1;                                                                                    \
          w[3] = product0;                                                                                    \
        }                                                                                                     \
        key0 += 0x9E3779B9u;                                                                                  \
        key1 += 0xBB67AE85u;                                                                                  \
      }                                                                                                       \
      for (std::size_t s = 0; s < streams; ++s) Lanes::store(word[s], words + 4 * (done + s * Lanes::count)); \
    }                                                                                                         \
    return done;                                                                                              \
  }
DRAFTPROOF_PHILOX_WORDS(philox_words8, Lanes8, DRAFTPROOF_AVX512)
DRAFTPROOF_PHILOX_WORDS(philox_words4, Lanes4, DRAFTPROOF_AVX2)
#undef DRAFTPROOF_PHILOX_WORDS

#endif

}  // namespace detail

/// Writes the 4 `count` words of `count` blocks.
inline void philox_words(const PhiloxRun& run, std::size_t count, std::uint32_t* words,
                         wide::Width width = wide::in_use()) {
  std::size_t done = 0;
#if DRAFTPROOF_WIDE
  if (width == wide::Width::avx512)
    done = detail::philox_words8(run, count, words);
  else if (width == wide::Width::avx2)
    done = detail::philox_words4(run, count, words);
#endif
  (void)width;
  detail::philox_words_scalar(run, done, count, words);
}

}  // namespace draftproof
