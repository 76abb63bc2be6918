// Philox blocks of many trials at one slot and purpose, the same as philox_pair returns for each trial.
//
//   first, second    the two 64-bit integers of each block, in one array each             [count]
//
// Cost: ten rounds for 4 (AVX2) or 8 (AVX-512) trials at a time, two or four such runs interleaved.
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

inline void philox_fill(Width width, std::uint64_t seed, const std::uint64_t* trials, int count, std::uint32_t slot,
                        std::uint32_t purpose, std::uint64_t* first, std::uint64_t* second) {
  int done = 0;
#if DRAFTPROOF_WIDE
  if (width == Width::avx512) done = avx512::philox_fill(seed, trials, count, slot, purpose, first, second);
  if (width == Width::avx2) done = avx2::philox_fill(seed, trials, count, slot, purpose, first, second);
#endif
  (void)width;
  philox_fill_scalar(seed, trials + done, count - done, slot, purpose, first + done, second + done);
}

}  // namespace draftproof::simd
