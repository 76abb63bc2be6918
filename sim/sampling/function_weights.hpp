// Weights given by a function of the token: the general pass that every model of Laws offers. This is the plain form,
// token by token in the scalar of the function.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <draftproof/sim/random/uniform_source.hpp>

namespace draftproof {

/// Weights f(x) for x = 0 .. size - 1, f(x) >= 0. A draw adds running sums in the scalar of f: two passes.
template <class F>
class FunctionWeights {
 public:
  DRAFTPROOF_DEVICE FunctionWeights(int size, F f) : size_{size}, f_{std::move(f)} {}

  DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const {
    std::remove_cvref_t<decltype(f_(Token{}))> total{0};
    for (Token x = 0; x < size_; ++x) total += f_(x);
    const double threshold = unit_interval(word) * static_cast<double>(total);
    decltype(total) running{0};
    Token last = no_token;
    for (Token x = 0; x < size_; ++x) {
      const auto weight = f_(x);
      if (!(weight > 0)) continue;
      running += weight;
      last = x;
      if (threshold < static_cast<double>(running)) break;
    }
    return last;
  }

  template <class Visit>
  DRAFTPROOF_DEVICE void for_each(Visit visit) const {
    for (Token x = 0; x < size_; ++x)
      if (const auto weight = f_(x); weight > 0) visit(x, weight);
  }
  /// Differences of the running sums, whose rounding loses a small weight after a large sum.
  template <class Visit>
  void for_each_realised(Visit visit) const {
    std::remove_cvref_t<decltype(f_(Token{}))> running{0};
    for (Token x = 0; x < size_; ++x) {
      const auto below = running;
      if (const auto weight = f_(x); weight > 0) running += weight;
      if (running > below) visit(x, decltype(running)(running - below));
    }
  }

 private:
  int size_;
  F f_;
};

/// Whether `x` is one of the n tokens at `seen`.
DRAFTPROOF_DEVICE constexpr bool among(Token x, const Token* seen, int n) {
  for (int i = 0; i < n; ++i)
    if (seen[i] == x) return true;
  return false;
}

}  // namespace draftproof
