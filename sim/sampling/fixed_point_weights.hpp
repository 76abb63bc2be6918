// General passes of laws in double: sums and draws of any function of the token, in integers (fixed_point.hpp) and in
// the widest registers of the processor (simd/strips.hpp).
//
//   f(x)     f_            0 <= f, total below 8                                        x = 0 .. size - 1
//   S_i      parts[i]      sum over a part of the vocabulary: 1024 tokens, or more so that parts are at most 256
//   draw                   the first token whose running sum, in token order, exceeds u S, u the word
//
// Cost: a sum is a pass; a draw is a pass and at most one part of it again.
// Correctness: the token depends on the word and the integers only; the sums of parts are sums of those of tokens.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/simd/strips.hpp>

namespace draftproof {

/// The sum of f(x) over 0 .. size - 1, with 0 <= f and a total below 8.
template <class F>
double fixed_sum(int size, const F& f) {
  return from_fixed(simd::function_sum(f, 0, static_cast<std::size_t>(size)));
}

/// Weights f(x) for x = 0 .. size - 1 with 0 <= f and a total below 8.
template <class F>
class FixedWeights {
 public:
  /// Sums and draws add the number of tokens that they read to `visited`, unless it is null.
  FixedWeights(int size, F f, std::uint64_t* visited = nullptr) : size_{size}, f_{std::move(f)}, visited_{visited} {}

  Token draw(std::uint64_t word) const {
    const auto size = static_cast<std::size_t>(size_), length = simd::part_length(size);
    std::array<Fixed, simd::most_parts> parts;
    Fixed total = 0;
    for (std::size_t start = 0, i = 0; start < size; start += length, ++i)
      total += parts[i] = simd::function_sum(f_, start, std::min(start + length, size));
    count(size);
    if (total <= 0) return no_token;
    auto left = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(total)));
    const std::size_t start = length * simd::find_block(parts.data(), left), end = std::min(start + length, size);
    count(end - start);
    return static_cast<Token>(simd::find_function(f_, start, end, left));
  }

  double weight(Token x) const { return f_(x); }
  double total() const {
    count(static_cast<std::size_t>(size_));
    return fixed_sum(size_, f_);
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (Token x = 0; x < size_; ++x)
      if (const double weight = f_(x); weight > 0) visit(x, weight);
  }
  template <class Visit>
  void for_each_realised(Visit visit) const {
    for (Token x = 0; x < size_; ++x)
      if (const Fixed weight = to_fixed(f_(x)); weight > 0) visit(x, from_fixed(weight));
  }

 private:
  void count(std::size_t tokens) const {
    if (visited_ != nullptr) *visited_ += tokens;
  }

  int size_;
  F f_;
  std::uint64_t* visited_;
};

}  // namespace draftproof
