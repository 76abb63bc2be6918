// Sums over the vocabulary as 64-bit integers. Integer addition is associative, so every order of summation, vector
// width, thread count and device gives the same bits, and a decision can depend on the result.
//
// Terms are scaled by 2^60 and truncated: a total below 8 cannot overflow, and the error of a sum over V terms is
// below V 2^-60 (2.3e-13 at V = 262,144), always downwards.
#pragma once

#include <cstdint>

#include <draftproof/sim/pass.hpp>

namespace draftproof {

using Fixed = std::int64_t;

DRAFTPROOF_DEVICE constexpr Fixed to_fixed(double value) { return static_cast<Fixed>(value * 0x1p60); }
DRAFTPROOF_DEVICE constexpr double from_fixed(Fixed value) { return static_cast<double>(value) * 0x1p-60; }

/// sum of f(x) over 0 .. size - 1 with 0 <= f and a total below 8.
template <class F>
double fixed_sum(int size, F f) {
  Fixed total = 0;
  for (Token x = 0; x < size; ++x) total += to_fixed(f(x));
  return from_fixed(total);
}

/// Weights f(x) for x = 0 .. size - 1 with 0 <= f and a total below 8, drawn by integer running sums in token
/// order: the token depends on the word and the weights alone. Two passes.
template <class F>
class FixedWeights {
 public:
  FixedWeights(int size, F f) : size_{size}, f_{std::move(f)} {}

  Token draw(std::uint64_t word) const {
    Fixed total = 0;
    for (Token x = 0; x < size_; ++x) total += to_fixed(f_(x));
    if (total <= 0) return no_token;
    auto left = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(total)));
    for (Token x = 0;; ++x)
      if ((left -= to_fixed(f_(x))) < 0) return x;
  }

  double weight(Token x) const { return f_(x); }
  double total() const { return fixed_sum(size_, f_); }
  template <class Visit>
  void for_each(Visit visit) const {
    for (Token x = 0; x < size_; ++x)
      if (const double weight = f_(x); weight > 0) visit(x, weight);
  }
  template <class Visit>
  void for_each_served(Visit visit) const {
    for (Token x = 0; x < size_; ++x)
      if (const Fixed weight = to_fixed(f_(x)); weight > 0) visit(x, from_fixed(weight));
  }

 private:
  int size_;
  F f_;
};

}  // namespace draftproof
