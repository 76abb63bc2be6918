// A row of target weights under its support mask, and weights over tokens for a random source.
//
//   w      MaskedRow(x)     weight of token x, 0 where the mask is 0
//
// Cost: a pass for the total, another for a draw.
// Correctness: a draw divides by the total and then adds in fixed point, so the token depends on the row and the word
// only.
#pragma once

#include <cmath>
#include <cstdint>

#include <draftproof/sim/sampling/fixed_point_weights.hpp>

namespace draftproof {

class MaskedRow {
 public:
  MaskedRow(const float* weights, const std::uint8_t* mask, int vocabulary)
      : weights_{weights}, mask_{mask}, vocabulary_{vocabulary} {}

  double operator()(Token x) const { return mask_ && mask_[x] == 0 ? 0.0 : static_cast<double>(weights_[x]); }

  /// The sum of the weights. Exact if they are integers; the order of the sum does not matter then.
  double total() const {
    double total = 0;
    for (Token x = 0; x < vocabulary_; ++x) total += (*this)(x);
    return total;
  }
  /// Whether the row is a law up to its sum: no weight negative, infinite or NaN, and one positive.
  bool sound() const {
    for (Token x = 0; x < vocabulary_; ++x)
      if (!(weights_[x] >= 0) || std::isinf(weights_[x])) return false;
    return total() > 0;
  }

 private:
  const float* weights_;
  const std::uint8_t* mask_;
  int vocabulary_;
};

/// Non-negative weights of any scale over 0 .. size - 1.
template <class F>
class ScaledWeights {
 public:
  ScaledWeights(int size, F f) : size_{size}, f_{f} {}

  Token draw(std::uint64_t word) const {
    double total = 0;
    for (Token x = 0; x < size_; ++x) total += f_(x);
    const auto share = [this, total](Token x) { return f_(x) / total; };
    return FixedWeights(size_, share).draw(word);
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (Token x = 0; x < size_; ++x)
      if (const double weight = f_(x); weight > 0) visit(x, weight);
  }

 private:
  int size_;
  F f_;
};

}  // namespace draftproof
