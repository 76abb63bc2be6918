// Weights of a plan that many trials draw from: the draws of a general pass over the vocabulary, by bisection.
//
//   x_j      tokens_[j]    j-th token of positive weight, in token order
//   S_j      sums_[j]      weights of the first j + 1 of them, in units of 2^-60
//   draw                   smallest j with S_j > u S, u the word
//
// Cost: a pass once, then O(log V) a draw. An alias table (Laws::alias_weights) draws in O(1), but other tokens from
// the same words.
// Correctness: S_j are the integers that FixedWeights adds up before it finds its token.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/random/uniform_source.hpp>

namespace draftproof {

template <class F>
class CumulativeWeights {
 public:
  /// As FixedWeights: 0 <= f, total below 8. Objects that `f` refers to must outlive the table.
  CumulativeWeights(int size, F f) : f_{std::move(f)} {
    Fixed total = 0;
    for (Token x = 0; x < size; ++x)
      if (const double weight = f_(x); weight > 0) {
        tokens_.push_back(x);
        sums_.push_back(total += to_fixed(weight));
      }
  }

  Token draw(std::uint64_t word) const {
    if (sums_.empty() || sums_.back() <= 0) return no_token;
    const auto at = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(sums_.back())));
    return tokens_[static_cast<std::size_t>(std::upper_bound(sums_.begin(), sums_.end(), at) - sums_.begin())];
  }

  double weight(Token x) const { return f_(x); }
  double total() const { return sums_.empty() ? 0 : from_fixed(sums_.back()); }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Token x : tokens_) visit(x, f_(x));
  }
  template <class Visit>
  void for_each_realised(Visit visit) const {
    for (std::size_t j = 0; j < tokens_.size(); ++j)
      if (const Fixed weight = j == 0 ? sums_[0] : sums_[j] - sums_[j - 1]; weight > 0)
        visit(tokens_[j], from_fixed(weight));
  }

 private:
  F f_;
  std::vector<Token> tokens_;
  std::vector<Fixed> sums_;
};

/// Laws for many trials: a plan may keep tables of V entries.
template <class L>
concept ManyTrials = requires(const L& laws) {
  laws.tabulated([](Token) { return 0.0; });
};

/// laws.weights(f) for a plan: the same tokens from the same words; a table if the laws are for many trials.
template <class L, class F>
DRAFTPROOF_DEVICE auto tabulated(const L& laws, F f) {
  if constexpr (ManyTrials<L>)
    return laws.tabulated(std::move(f));
  else
    return laws.weights(std::move(f));
}

}  // namespace draftproof
