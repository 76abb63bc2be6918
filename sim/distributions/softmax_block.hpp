// What softmax does to one block of logits that stays in the first cache: its greatest logit, its powers of e below
// that one, and their sum as an integer; and later, when all blocks are known, its share of the row.
//
//   x_i    logits            finite or -infinity (a masked token)                       float, from any entry type
//   m      greatest          max x_i, -infinity where the block is masked               float
//   t      inverse           1 / temperature                                            float
//   e_i    powers[i]         exp_nonpositive((x_i - m) t), in [0, 1]                         float
//   S      sum               sum of e_i, each rounded to a multiple of 2^-46            units of 2^-46
//   p_i    powers[i]         factor e_i where e_i >= least, else 0                      float
//
// Cost: two reads of the block for the powers, the second from the first cache, and one pass over the powers to scale
// them. Right at every width because all of it is IEEE operations entry by entry, maxima, and integer sums. For those
// a power is split without conversions (softmax_terms.hpp), so that adding bits adds numbers, in 32 bits a lane.
// Blocks know nothing of each other: any order of them, on any number of threads, gives the same bits.
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

  float greatest;     ///< whatever it is if the block is not sound
  std::uint64_t sum;  ///< units of 2^-46
  bool sound;         ///< no NaN and no +infinity; otherwise nothing was written
};

/// exp_nonpositive of each of `count` numbers.
inline void powers_of_e(const float* x, std::size_t count, float* powers, simd::Width width = simd::in_use()) {
  std::size_t done = 0;
#if DRAFTPROOF_WIDE
  if (width == simd::Width::avx512) done = simd::avx512::powers_of_e(x, count, powers);
  if (width == simd::Width::avx2) done = simd::avx2::powers_of_e(x, count, powers);
#endif
  (void)width;
  for (; done < count; ++done) powers[done] = exp_nonpositive(x[done]);
}

/// At most a block of logits; `powers` has workspace for as many.
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

inline void scalar_scale(float* powers, std::size_t count, float factor, float least) {
  for (std::size_t i = 0; i < count; ++i) powers[i] = powers[i] >= least ? powers[i] * factor : 0;
}

/// The same at the width in use.
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
