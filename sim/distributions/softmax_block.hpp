// The softmax of one block of logits that stays in the first cache: its greatest logit, the powers of e relative to
// it and their sum as an integer. After all blocks are known, the powers are scaled to probabilities.
//
//   x_i    logits            finite or -infinity (a masked token)                       float, from any entry type
//   m      greatest          max x_i, -infinity where the block is masked               float
//   t      inverse           1 / temperature                                            float
//   e_i    powers[i]         exp_nonpositive((x_i - m) t), in [0, 1]                    float
//   S      sum               sum of e_i, each rounded to a multiple of 2^-46            units of 2^-46
//   p_i    powers[i]         factor e_i where e_i >= least, else 0                      float
//
// Cost: two reads of the block for the powers, the second from the first cache, and one pass over the powers to scale
// them.
// Correctness: the bits are the same at every register width, because all operations are IEEE operations entry by
// entry, maxima, and integer sums. A power becomes an integer without a conversion (softmax_terms.hpp), so adding
// bits adds numbers, in 32 bits a lane. Blocks are independent: any order of them, on any number of threads, gives
// the same bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <draftproof/sim/distributions/softmax_terms.hpp>
#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/simd/dispatch.hpp>
#include <draftproof/sim/simd/softmax_loops.hpp>

namespace draftproof {

struct SoftmaxBlock {
  static constexpr std::size_t size = softmax_block_size;

  float greatest;     ///< unspecified if the block is not sound
  std::uint64_t sum;  ///< units of 2^-46
  bool sound;         ///< no NaN and no +infinity; if false, nothing was written
};

/// Writes exp_nonpositive of each of `count` numbers.
inline void powers_of_e(const float* x, std::size_t count, float* powers, simd::Width width = simd::in_use()) {
  std::size_t done = 0;
#if DRAFTPROOF_WIDE
  if (width == simd::Width::avx512) done = simd::avx512::powers_of_e(x, count, powers);
  if (width == simd::Width::avx2) done = simd::avx2::powers_of_e(x, count, powers);
#endif
  (void)width;
  for (; done < count; ++done) powers[done] = exp_nonpositive(x[done]);
}

/// Powers of e and their sum for at most one block of logits, entry by entry; writes `count` powers.
template <class Entry>
SoftmaxBlock scalar_powers(const Entry* logits, std::size_t count, float inverse, float* powers) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  SoftmaxBlock block{-infinity, 0, true};
  for (std::size_t i = 0; i < count; ++i) {
    const auto x = static_cast<float>(logits[i]);
    block.sound &= x < infinity;
    block.greatest = std::max(block.greatest, x);
  }
  if (!block.sound) return block;
  if (block.greatest == -infinity) {
    std::fill_n(powers, count, 0.0f);
    return block;
  }
  for (std::size_t i = 0; i < count; ++i) {
    powers[i] = exp_nonpositive((static_cast<float>(logits[i]) - block.greatest) * inverse);
    block.sum += units_of_power(powers[i]);
  }
  return block;
}

/// Scales powers to probabilities in place; powers below `least` become 0.
inline void scalar_scale(float* powers, std::size_t count, float factor, float least) {
  for (std::size_t i = 0; i < count; ++i) powers[i] = powers[i] >= least ? powers[i] * factor : 0;
}

/// scalar_powers in registers of `width`, with the same bits.
template <class Entry>
SoftmaxBlock softmax_powers(const Entry* logits, std::size_t count, float inverse, float* powers,
                            simd::Width width = simd::in_use()) {
#if DRAFTPROOF_WIDE
  if (width != simd::Width::scalar) {
    SoftmaxBlock block{};
    const simd::FloatReader<Entry> reader{logits};
    block.sound = width == simd::Width::avx512
                      ? simd::avx512::powers_of(reader, count, inverse, powers, block.greatest, block.sum)
                      : simd::avx2::powers_of(reader, count, inverse, powers, block.greatest, block.sum);
    return block;
  }
#endif
  (void)width;
  return scalar_powers(logits, count, inverse, powers);
}

/// scalar_scale in registers of `width`, with the same bits.
inline void softmax_scale(float* powers, std::size_t count, float factor, float least,
                          simd::Width width = simd::in_use()) {
#if DRAFTPROOF_WIDE
  if (width == simd::Width::avx512) return simd::avx512::scale(powers, count, factor, least);
  if (width == simd::Width::avx2) return simd::avx2::scale(powers, count, factor, least);
#endif
  (void)width;
  scalar_scale(powers, count, factor, least);
}

}  // namespace draftproof
