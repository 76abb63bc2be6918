// Philox blocks of many trials at one slot and purpose: the pairs that philox_pair gives one by one.
//
//   first, second    the two 64-bit words of each block, an array each                    [count]
//
// Cost: ten rounds for 4 (AVX2) or 8 (AVX-512) trials at a time, with two (AVX2) or four (AVX-512) registers in
// flight.
// Correctness: a lane is a whole block (philox_simd.hpp).
#pragma once

#include <cstdint>

#include <draftproof/sim/random/philox4x32.hpp>
#include <draftproof/sim/random/philox_simd.hpp>
#include <draftproof/sim/simd/dispatch.hpp>

namespace draftproof::simd {

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

DRAFTPROOF_AVX2_PART PhiloxLanes256 philox_trials256(const std::uint64_t* trials, std::uint32_t slot,
                                                     std::uint32_t purpose) {
  const __m256i trial = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(trials));
  return {trial, _mm256_srli_epi64(trial, 32), _mm256_set1_epi64x(slot), _mm256_set1_epi64x(purpose)};
}
DRAFTPROOF_AVX2_PART void philox_store(const PhiloxLanes256& x, std::uint64_t* first, std::uint64_t* second) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(first), x.first());
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(second), x.second());
}
DRAFTPROOF_AVX512_PART PhiloxLanes512 philox_trials512(const std::uint64_t* trials, std::uint32_t slot,
                                                       std::uint32_t purpose) {
  const __m512i trial = _mm512_loadu_si512(trials);
  return {trial, _mm512_srli_epi64(trial, 32), _mm512_set1_epi64(slot), _mm512_set1_epi64(purpose)};
}
DRAFTPROOF_AVX512_PART void philox_store(const PhiloxLanes512& x, std::uint64_t* first, std::uint64_t* second) {
  _mm512_storeu_si512(first, x.first());
  _mm512_storeu_si512(second, x.second());
}

}  // namespace detail

DRAFTPROOF_AVX2 inline void philox_fill_avx2(std::uint64_t seed, const std::uint64_t* trials, int count,
                                             std::uint32_t slot, std::uint32_t purpose, std::uint64_t* first,
                                             std::uint64_t* second) {
  using namespace detail;
  constexpr int lanes = 4;  // sixteen registers hold two chains with their keys and multipliers
  int t = 0;
  for (; t + 2 * lanes <= count; t += 2 * lanes) {
    auto a = philox_trials256(trials + t, slot, purpose), b = philox_trials256(trials + t + lanes, slot, purpose);
    philox_rounds256(seed, a, b);
    philox_store(a, first + t, second + t);
    philox_store(b, first + t + lanes, second + t + lanes);
  }
  philox_fill_scalar(seed, trials + t, count - t, slot, purpose, first + t, second + t);
}

DRAFTPROOF_AVX512 inline void philox_fill_avx512(std::uint64_t seed, const std::uint64_t* trials, int count,
                                                 std::uint32_t slot, std::uint32_t purpose, std::uint64_t* first,
                                                 std::uint64_t* second) {
  using namespace detail;
  constexpr int lanes = 8;
  int t = 0;
  for (; t + 4 * lanes <= count; t += 4 * lanes) {
    auto a = philox_trials512(trials + t, slot, purpose), b = philox_trials512(trials + t + lanes, slot, purpose);
    auto c = philox_trials512(trials + t + 2 * lanes, slot, purpose),
         d = philox_trials512(trials + t + 3 * lanes, slot, purpose);
    philox_rounds512(seed, a, b, c, d);
    philox_store(a, first + t, second + t);
    philox_store(b, first + t + lanes, second + t + lanes);
    philox_store(c, first + t + 2 * lanes, second + t + 2 * lanes);
    philox_store(d, first + t + 3 * lanes, second + t + 3 * lanes);
  }
  for (; t + lanes <= count; t += lanes) {
    auto a = philox_trials512(trials + t, slot, purpose);
    philox_rounds512(seed, a);
    philox_store(a, first + t, second + t);
  }
  philox_fill_scalar(seed, trials + t, count - t, slot, purpose, first + t, second + t);
}
#endif

/// Writes `first` and `second` for `count` trials, in registers of `width`.
inline void philox_fill(Width width, std::uint64_t seed, const std::uint64_t* trials, int count, std::uint32_t slot,
                        std::uint32_t purpose, std::uint64_t* first, std::uint64_t* second) {
#if DRAFTPROOF_WIDE
  if (width == Width::avx512) return philox_fill_avx512(seed, trials, count, slot, purpose, first, second);
  if (width == Width::avx2) return philox_fill_avx2(seed, trials, count, slot, purpose, first, second);
#endif
  (void)width;
  philox_fill_scalar(seed, trials, count, slot, purpose, first, second);
}

}  // namespace draftproof::simd
