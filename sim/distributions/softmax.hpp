// Softmax: a row of probabilities from a row of logits. The logits are read from memory once, block by block
// (SoftmaxBlock). The probabilities are floats, as in engines, with bits that do not depend on register width, block
// order or thread count.
//
//   M      greatest            the greatest logit of the row                                      float
//   w_b    weight              exp_nonpositive((m_b - M) t): weight of the powers of block b      float
//   Z      total               sum over blocks of w_b S_b, in units of 2^-40                      V <= 2^22
//   p_i    row()[i]            e_i times float(w_b / Z)                                           float
//
// Cost: V logits from memory; 4 V bytes of probabilities written twice, the second time in the second-level cache;
// about ten operations for each entry (exp.hpp).
// Correctness: a row sums to 1 within 2^-23 + V 2^-46. The factor and its products round by 2^-24 each, relative to
// terms that sum to 1. S_b differ from the sums of their powers by V 2^-47 in all, and Z by V / 1024 units of 2^-40,
// relative to Z >= 1. Entries that become 0 sum to less than V 2^-126.
// The relative error of an entry, compared with exp(l_i / T) / sum of exp(l_j / T), is at most 2^-22 from its two
// powers, 2^-22 from the powers in the total, 2^-23 from factor and product, and 3 2^-24 (M - l_i) / T from
// differences, inverse and products. The last part is large only for small probabilities.
// A masked token has probability exactly 0. Entries below 2^-126, the least normal float, are 0 too, so no denormal
// appears.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/sim/device/host_device.hpp>
#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/simd/dispatch.hpp>
#include <draftproof/sim/simd/softmax_loops.hpp>

namespace draftproof {

// The terms of softmax for one power, one block and one row, by operations that give the same bits on host and
// device. softmax.hpp and gpu/teams/team_softmax.cuh combine them.
//
//   e     power      exp_nonpositive, in [0, 1]                   float
//   S     sum        sum of the powers of a block                 units of 2^-46, at most 2^56
//   w     weight     weight of the powers of the block            float, in [0, 1]
//   Z     units      sum over blocks of w S                       units of 2^-40, at most 2^62 for V <= 2^22
//
// Cost: seven operations for each power, a division for each block.
// Correctness: a power becomes an integer without a conversion. h = 1 + e rounds to a multiple of 2^-23 within [1,
// 2], where the bits of a float count in that unit. l = e - (h - 1) is exact and at most 2^-24, and 1.5 + 2^23 l
// rounds it to 2^-46 in the same way. Adding bits then adds numbers, in any order.

/// Number of logits in a block; 2^12 would overflow 32-bit lanes of wide registers.
inline constexpr int softmax_block_size = 1024;

inline constexpr float least_normal_float = std::numeric_limits<float>::min();

/// A sum of few powers in units of 2^-46, as 32-bit sums of the parts above and below 2^-23.
struct PowerUnits {
  std::uint32_t coarse = 0, fine = 0;  ///< `fine` is a signed number, modulo 2^32

  /// May be called at most 256 times, because each call adds up to 2^23 to `coarse`.
  DRAFTPROOF_DEVICE void add(float power) {
    const float split = 1 + power, rest = power - (split - 1);
    coarse += bit_cast<std::uint32_t>(split) - bit_cast<std::uint32_t>(1.0f);
    fine += bit_cast<std::uint32_t>(std::fma(rest, 0x1p23f, 1.5f)) - bit_cast<std::uint32_t>(1.5f);
  }
  DRAFTPROOF_DEVICE std::uint64_t sum() const {
    return (std::uint64_t{coarse} << 23) + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(fine)});
  }
};

/// Returns e in units of 2^-46.
DRAFTPROOF_DEVICE inline std::uint64_t units_of_power(float power) {
  PowerUnits units;
  units.add(power);
  return units.sum();
}

/// Returns w S, the weight of a block times the sum of its powers, in units of 2^-40, truncated.
DRAFTPROOF_DEVICE inline std::uint64_t units_of_block(std::uint64_t sum, float weight) {
  return static_cast<std::uint64_t>(static_cast<double>(sum) * 0x1p-46 * static_cast<double>(weight) * 0x1p40);
}

/// Returns w / Z.
DRAFTPROOF_DEVICE inline float factor_of_block(float weight, std::uint64_t units) {
  return static_cast<float>(static_cast<double>(weight) / (static_cast<double>(units) * 0x1p-40));
}

/// Returns the least power with a positive probability; the product of a smaller power with the factor is below the
/// least normal float.
DRAFTPROOF_DEVICE inline float least_power_realised(float factor) {
  // If the factor is below the least normal float, every probability is too. A power is at most 1, so the bound 2
  // makes all probabilities 0.
  return factor >= least_normal_float ? least_normal_float / factor : 2;
}

// The softmax of one block of logits, which stays in the first-level cache: its greatest logit, the powers of e
// relative to it, and their sum as an integer. After all blocks are summed, the powers are scaled to probabilities.
//
//   x_i    logits            finite or -infinity (a masked token)                       float, from any entry type
//   m      greatest          max x_i, -infinity if all tokens of the block are masked   float
//   t      inverse           1 / temperature                                            float
//   e_i    powers[i]         exp_nonpositive((x_i - m) t), in [0, 1]                    float
//   S      sum               sum of e_i, each rounded to a multiple of 2^-46            units of 2^-46
//   p_i    powers[i]         factor e_i where e_i >= least, else 0                      float
//
// Cost: two reads of the block for the powers, the second from the first-level cache, and one pass over the powers to
// scale them.
// Correctness: the bits are the same at every register width, because all operations are IEEE 754 operations on
// single entries, maxima, and integer sums. Blocks are independent, so any order of blocks, on any number of threads,
// gives the same bits.

struct SoftmaxBlock {
  static constexpr std::size_t size = softmax_block_size;

  float greatest;     ///< the greatest logit; unspecified if the block is not sound
  std::uint64_t sum;  ///< sum of the powers, in units of 2^-46
  bool sound;         ///< no NaN and no +infinity; if false, nothing was written
};

/// Writes exp_nonpositive(x[i]) to powers[i] for i < count.
inline void powers_of_e(const float* x, std::size_t count, float* powers, simd::Width width = simd::in_use()) {
  std::size_t done = 0;
#if DRAFTPROOF_WIDE
  if (width == simd::Width::avx512) done = simd::avx512::powers_of_e(x, count, powers);
  if (width == simd::Width::avx2) done = simd::avx2::powers_of_e(x, count, powers);
#endif
  (void)width;
  for (; done < count; ++done) powers[done] = exp_nonpositive(x[done]);
}

/// Computes the powers of e and their sum for at most one block of logits, entry by entry; writes `count` powers.
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

/// Writes and returns the same bits as scalar_powers, computed in registers of `width`.
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

/// Writes the same bits as scalar_scale, computed in registers of `width`.
inline void softmax_scale(float* powers, std::size_t count, float factor, float least,
                          simd::Width width = simd::in_use()) {
#if DRAFTPROOF_WIDE
  if (width == simd::Width::avx512) return simd::avx512::scale(powers, count, factor, least);
  if (width == simd::Width::avx2) return simd::avx2::scale(powers, count, factor, least);
#endif
  (void)width;
  scalar_scale(powers, count, factor, least);
}

/// Returns the float nearest to 1 / temperature.
/// Throws: std::invalid_argument unless the temperature is positive and its inverse a normal, finite float.
inline float inverse_temperature(double temperature) {
  const auto inverse = static_cast<float>(1 / temperature);
  if (!(temperature > 0 && inverse >= std::numeric_limits<float>::min() &&
        inverse <= std::numeric_limits<float>::max()))
    throw std::invalid_argument("temperature: got " + std::to_string(temperature) +
                                ", expected a positive number whose inverse is finite in single precision");
  return inverse;
}

/// The softmax of one row at a time, in memory that is allocated once and reused for every position.
class Softmax {
 public:
  /// Requires 1 <= vocabulary <= 2^22.
  explicit Softmax(int vocabulary)
      : row_(static_cast<std::size_t>(vocabulary)),
        blocks_((row_.size() + SoftmaxBlock::size - 1) / SoftmaxBlock::size) {
    assert(vocabulary >= 1 && vocabulary <= 1 << 22);
  }

  /// Returns the probabilities of V logits at `temperature`, [V], valid until the next call.
  /// Throws: std::invalid_argument with the row and the token of a NaN or of +infinity, or if every token is masked;
  /// or on a temperature that inverse_temperature rejects.
  template <class Entry>
  std::span<const float> of(std::span<const Entry> logits, double temperature = 1, std::string_view name = "logits") {
    const float inverse = inverse_temperature(temperature);
    for (std::size_t b = 0; b < blocks_.size(); ++b) read_block(logits, inverse, b);
    join(logits, inverse, name);
    for (std::size_t b = 0; b < blocks_.size(); ++b) scale_block(b);
    return row();
  }

  /// These steps together do what of() does, so that several threads can work on one row: read_block for every block in
  /// any order, then join(), then scale_block for every block in any order. join() throws on logits as of() does.
  std::size_t blocks() const { return blocks_.size(); }
  template <class Entry>
  void read_block(std::span<const Entry> logits, float inverse, std::size_t b) {
    assert(logits.size() == row_.size());
    const std::size_t start = b * SoftmaxBlock::size;
    blocks_[b].powers = softmax_powers(logits.data() + start, count_of(b), inverse, row_.data() + start);
  }
  template <class Entry>
  void join(std::span<const Entry> logits, float inverse, std::string_view name = "logits") {
    float greatest = -std::numeric_limits<float>::infinity();
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (!blocks_[b].powers.sound) reject(logits, b, name);
      greatest = std::max(greatest, blocks_[b].powers.greatest);
    }
    if (greatest == -std::numeric_limits<float>::infinity())
      throw std::invalid_argument(std::string(name) + ": got -infinity for every token, expected a finite logit");
    std::uint64_t units = 0;
    for (Block& block : blocks_) {
      block.factor = exp_nonpositive((block.powers.greatest - greatest) * inverse);
      units += units_of_block(block.powers.sum, block.factor);
    }
    for (Block& block : blocks_) block.factor = factor_of_block(block.factor, units);
  }
  void scale_block(std::size_t b) {
    const float factor = blocks_[b].factor;
    softmax_scale(row_.data() + b * SoftmaxBlock::size, count_of(b), factor, least_power_realised(factor));
  }

  /// Returns the probabilities of the last row, [V].
  std::span<const float> row() const { return row_; }

 private:
  struct Block {
    SoftmaxBlock powers;
    float factor;  ///< w_b, then w_b / Z
  };

  std::size_t count_of(std::size_t b) const {
    return std::min(SoftmaxBlock::size, row_.size() - b * SoftmaxBlock::size);
  }

  template <class Entry>
  [[noreturn]] static void reject(std::span<const Entry> logits, std::size_t b, std::string_view name) {
    std::size_t token = b * SoftmaxBlock::size;
    while (static_cast<float>(logits[token]) < std::numeric_limits<float>::infinity()) ++token;
    const auto found = static_cast<float>(logits[token]);
    throw std::invalid_argument(std::string(name) + ": token " + std::to_string(token) + ": got " +
                                (found > 0 ? "+infinity" : "NaN") + ", expected a finite logit, or -infinity");
  }

  std::vector<float> row_;
  std::vector<Block> blocks_;
};

}  // namespace draftproof
