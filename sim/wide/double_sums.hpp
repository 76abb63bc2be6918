// Sums of doubles scaled by 2^60, each truncated to an integer, in 256-bit registers, which have no conversion to
// 64-bit integers.
//
//   x      add(x)     four scaled terms, 0 <= x < 2^63
//   high              multiples of 2^32 nearest to them, added up
//   low               floors of the rests, added up
//
// Right because a rest is exact and at most 2^31 in size, and a multiple of 2^32 plus the floor of the rest is the
// floor of x; 1024 of either add up exactly in a double.
#pragma once

#include <cstdint>

#include <draftproof/sim/fixed_point.hpp>
#include <draftproof/sim/wide/target.hpp>

#if DRAFTPROOF_WIDE
namespace draftproof::wide::detail {

/// Integer parts of four scaled terms, added up.
struct Sum256 {
  __m256d high, low;

  DRAFTPROOF_AVX2_PART static Sum256 zero() { return {_mm256_setzero_pd(), _mm256_setzero_pd()}; }
  DRAFTPROOF_AVX2_PART void add(__m256d scaled) {
    const __m256d shift = _mm256_set1_pd(0x1.8p84);  // the last bit of a sum with it is worth 2^32
    const __m256d top = _mm256_sub_pd(_mm256_add_pd(scaled, shift), shift);
    high = _mm256_add_pd(high, top);
    low = _mm256_add_pd(low, _mm256_floor_pd(_mm256_sub_pd(scaled, top)));
  }
  DRAFTPROOF_AVX2_PART Fixed total() const {
    alignas(32) double highs[4], lows[4];
    _mm256_store_pd(highs, high);
    _mm256_store_pd(lows, low);
    std::uint64_t sum = 0;  // high parts round to nearest and may pass 2^63 by what low parts take away again
    for (int lane = 0; lane < 4; ++lane)
      sum += (static_cast<std::uint64_t>(static_cast<Fixed>(highs[lane] * 0x1p-32)) << 32) +
             static_cast<std::uint64_t>(static_cast<Fixed>(lows[lane]));
    return static_cast<Fixed>(sum);
  }
};

}  // namespace draftproof::wide::detail
#endif
