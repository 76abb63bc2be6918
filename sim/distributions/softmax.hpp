// A row of logits becomes a row of probabilities. The logits are read from memory once, block by block
// (softmax_block.hpp). The probabilities are those of an engine's float softmax, with bits that do not depend on
// register width, block order or thread count.
//
//   M      greatest            the greatest logit of the row                                      float
//   w_b    weight              exp_nonpositive((m_b - M) t): weight of the powers of block b      float
//   Z      total               sum over blocks of w_b S_b, in units of 2^-40                      V <= 2^22
//   p_i    row()[i]            e_i times float(w_b / Z)                                           float
//
// Cost: V logits from memory; 4 V bytes of probabilities written twice, the second time from the second cache; about
// ten operations an entry (exp.hpp).
// Correctness: a row sums to 1 within 2^-23 + V 2^-46. The factor and its products round by 2^-24 each, relative to
// terms that sum to 1. S_b differ from the sums of their powers by V 2^-47 in all, and Z by V / 1024 units of 2^-40,
// relative to Z >= 1. Entries that become 0 sum to less than V 2^-126.
// Relative to exp(l_i / T) over the sum of the same, an entry is off by at most 2^-22 from its two powers, 2^-22 from
// those of the total, 2^-23 from factor and product, and 3 2^-24 (M - l_i) / T from differences, inverse and
// products: the last is large only for small probabilities.
// A masked token has probability exactly 0. Entries below 2^-126, the least normal float, are 0 too, so no denormal
// appears.
#pragma once

#include <algorithm>
#include <cassert>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/sim/distributions/softmax_block.hpp>

namespace draftproof {

/// The float nearest to 1 / temperature.
/// Throws: std::invalid_argument unless the temperature is positive and its inverse a normal, finite float.
inline float inverse_temperature(double temperature) {
  const auto inverse = static_cast<float>(1 / temperature);
  if (!(temperature > 0 && inverse >= std::numeric_limits<float>::min() &&
        inverse <= std::numeric_limits<float>::max()))
    throw std::invalid_argument("temperature: found " + std::to_string(temperature) +
                                ", wanted a positive number with an inverse in single precision");
  return inverse;
}

/// The softmax of one row at a time, in memory that is made once and reused for every position.
class Softmax {
 public:
  /// 1 <= vocabulary <= 2^22.
  explicit Softmax(int vocabulary)
      : row_(static_cast<std::size_t>(vocabulary)),
        blocks_((row_.size() + SoftmaxBlock::size - 1) / SoftmaxBlock::size) {
    assert(vocabulary >= 1 && vocabulary <= 1 << 22);
  }

  /// Probabilities of V logits at `temperature`, [V], valid until the next call.
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

  /// The steps of of(), for several threads on one row: read_block for every block in any order, then join(), then
  /// scale_block for every block in any order. join() throws on logits as of() does.
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
      throw std::invalid_argument(std::string(name) + ": found -infinity for every token, wanted a finite logit");
    std::uint64_t units = 0;
    for (Block& block : blocks_) {
      block.factor = exp_nonpositive((block.powers.greatest - greatest) * inverse);
      units += units_of_block(block.powers.sum, block.factor);
    }
    for (Block& block : blocks_) block.factor = factor_of_block(block.factor, units);
  }
  void scale_block(std::size_t b) {
    const float factor = blocks_[b].factor;
    softmax_scale(row_.data() + b * SoftmaxBlock::size, count_of(b), factor, least_power_served(factor));
  }

  /// The probabilities of the last row, [V].
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
    throw std::invalid_argument(std::string(name) + ": token " + std::to_string(token) + ": found " +
                                (found > 0 ? "+infinity" : "NaN") + ", wanted a finite logit, or -infinity");
  }

  std::vector<float> row_;
  std::vector<Block> blocks_;
};

}  // namespace draftproof
