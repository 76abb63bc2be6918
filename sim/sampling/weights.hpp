// Sums and draws of any function of the token, for distributions in double, computed in integers (fixed_point.hpp) and
// in the widest registers of the processor (simd/strips.hpp).
//
//   f(x)     f_            0 <= f, total S below 8                                      x = 0 .. size - 1
//   S_i      parts[i]      sum over a part of the vocabulary: 1024 tokens, or more where V would give over 256 parts
//   draw                   the first token whose running sum, in token order, exceeds u S, for u = word / 2^64
//
// Cost: a sum reads the vocabulary once; a draw reads it once, and at most one part a second time.
// Correctness: all sums are integers, so the token depends on the integers of f and the random bits only.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/simd/strips.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

/// Returns the sum of f(x) over 0 .. size - 1, with 0 <= f and a total below 8.
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

// Weights given by a function of the token, for distributions in any scalar. They are added token by token, without
// wide registers or integers.

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
  /// Visits the differences of the running sums, in which rounding may lose a small weight after a large sum.
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

// Weights of a plan that many trials draw from. Draws give the same tokens as FixedWeights, but are found by bisection.
//
//   x_j      tokens_[j]    j-th token of positive weight, in token order
//   S_j      sums_[j]      sum of the first j + 1 of these weights, in units of 2^-60; S is the total
//   draw                   smallest j with S_j > u S, for u = word / 2^64
//
// Cost: one pass, then O(log V) for each draw. An alias table (Distributions::alias_weights) draws in O(1), but gives
// other tokens for the same random bits.
// Correctness: S_j are the integers that FixedWeights adds up before it finds its token.

template <class F>
class CumulativeWeights {
 public:
  /// Requires 0 <= f and a total below 8. Objects that `f` refers to must outlive the table.
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

/// Distributions for many trials: a plan may keep tables of V entries.
template <class L>
concept ManyTrials = requires(const L& distributions) {
  distributions.tabulated([](Token) { return 0.0; });
};

/// Returns distributions.weights(f), or a table with the same draws if the distributions are for many trials.
template <class L, class F>
DRAFTPROOF_DEVICE auto tabulated(const L& distributions, F f) {
  if constexpr (ManyTrials<L>)
    return distributions.tabulated(std::move(f));
  else
    return distributions.weights(std::move(f));
}

// A probability row as integers that sum to exactly 2^62: the distribution that a prepared table realises. Alias
// cells, cumulative sums and masses of token sets are computed from these integers exactly.

inline constexpr std::uint64_t row_total = std::uint64_t{1} << 62;

/// Returns a mass in units of 2^-62 as a double.
DRAFTPROOF_DEVICE constexpr double probability(std::uint64_t mass) { return static_cast<double>(mass) * 0x1p-62; }

/// Returns an entry in [0, 4) in units of 2^-62, truncated.
DRAFTPROOF_DEVICE constexpr std::uint64_t truncated_mass(double entry) {
  return static_cast<std::uint64_t>(entry * 0x1p62);
}

/// The mass that truncation took from a row. The n tokens with the largest truncated mass get equal shares of it, and
/// the first of them also gets the `rest` of the division, fewer than n units, so that masses sum to exactly 2^62.
///
/// Correctness: programs compare entries, by q(x) > q(y) or by a sort, and equal entries of the row must compare
/// equal. So programs read `common` for all n tokens; only draws, sums and masses of sets include the rest. The
/// distribution that programs read and the distribution that is drawn differ by n 2^-62, which is less than V 2^-53,
/// the rounding of a program's sums.
struct RowRest {
  std::uint64_t largest;  ///< the largest truncated mass
  std::uint64_t common;   ///< mass of each such token as programs read it; a negative share is added modulo 2^64
  std::uint64_t rest;     ///< mass that the first such token has in addition, in draws and sums
  Token first;

  /// Returns the rest for truncated masses with sum `sum`, of which `count` are equal to `largest`; `first` is the
  /// first token with mass `largest`.
  DRAFTPROOF_DEVICE static RowRest of(std::uint64_t sum, std::uint64_t largest, Token first, std::uint64_t count) {
    const auto missing = static_cast<std::int64_t>(row_total - sum), sharers = static_cast<std::int64_t>(count);
    const std::int64_t share = missing / sharers - (missing % sharers < 0);  // rounded down
    return {largest, largest + static_cast<std::uint64_t>(share),
            static_cast<std::uint64_t>(missing - share * sharers), first};
  }

  /// Returns the mass that a program reads, from the truncated mass.
  DRAFTPROOF_DEVICE std::uint64_t read(std::uint64_t truncated) const {
    return truncated == largest ? common : truncated;
  }
  /// Returns the mass of token x in a table.
  DRAFTPROOF_DEVICE std::uint64_t mass(std::uint64_t truncated, Token x) const {
    return read(truncated) + (x == first ? rest : 0);
  }
};

inline RowRest rest_of(std::span<const double> row) {
  std::uint64_t sum = 0, largest = 0, count = 0;
  Token first = 0;
  for (std::size_t x = 0; x < row.size(); ++x) {
    const std::uint64_t mass = truncated_mass(row[x]);
    sum += mass;
    if (mass > largest || count == 0) largest = mass, first = static_cast<Token>(x), count = 0;
    count += mass == largest;
  }
  return RowRest::of(sum, largest, first, count);
}

/// Rounds a row that sums to 1 in double precision; returns V masses in units of 2^-62. Each entry is truncated to a
/// multiple of 2^-62, and the most probable tokens share the missing mass (RowRest). The total variation from `row`
/// is at most V 2^-62 + |1 - sum|. A probability of zero stays zero; entries below 2^-62 become zero.
inline std::vector<std::uint64_t> quantise(std::span<const double> row, const RowRest& rest) {
  std::vector<std::uint64_t> mass(row.size());
  for (std::size_t x = 0; x < row.size(); ++x) mass[x] = rest.mass(truncated_mass(row[x]), static_cast<Token>(x));
  return mass;
}
inline std::vector<std::uint64_t> quantise(std::span<const double> row) { return quantise(row, rest_of(row)); }

}  // namespace draftproof
