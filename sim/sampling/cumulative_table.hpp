// Cumulative sums of a quantised row with a guide table: draws outside a set of tokens, by one word each.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/sampling/guide_table.hpp>
#include <draftproof/sim/sampling/quantised_row.hpp>

namespace draftproof {

class CumulativeTable {
 public:
  explicit CumulativeTable(std::span<const std::uint64_t> mass) : below_(mass.size() + 1) {
    for (std::size_t x = 0; x < mass.size(); ++x) below_[x + 1] = below_[x] + mass[x];
    const int bits = static_cast<int>(std::bit_width(mass.size()));
    shift_ = 62 - bits;
    guide_.resize((std::size_t{1} << bits) + 1);
    std::size_t x = 0;
    for (std::size_t cell = 0; cell < guide_.size(); ++cell) {
      const std::uint64_t start = static_cast<std::uint64_t>(cell) << shift_;
      while (x + 1 < mass.size() && below_[x + 1] <= start) ++x;
      guide_[cell] = static_cast<std::uint32_t>(x);
    }
  }

  /// Mass of a token in units of 2^-62.
  std::uint64_t mass(Token x) const { return below_[index(x) + 1] - below_[index(x)]; }

  /// Mass outside the n distinct tokens at `seen` in units of 2^-62, exactly.
  std::uint64_t mass_without(const Token* seen, int n) const {
    std::uint64_t mass_left = row_total;
    for (int i = 0; i < n; ++i) mass_left -= mass(seen[i]);
    return mass_left;
  }

  /// A token outside `seen`, by stepping over the removed intervals in token order; no_token if no mass is left.
  Token draw_without(const Token* seen, int n, std::uint64_t word) const {
    const std::uint64_t mass_left = mass_without(seen, n);
    if (mass_left == 0) return no_token;
    std::array<Token, max_drafts> removed;
    std::copy_n(seen, n, removed.begin());
    std::sort(removed.begin(), removed.begin() + n);
    return search().find_outside(removed.data(), n, scale(word, mass_left));
  }

  /// The interval of a token in the cumulative sums: from `at` to at + mass, in units of 2^-62.
  struct Interval {
    std::uint64_t at, mass;
  };
  Interval interval(Token x) const { return {below_[index(x)], mass(x)}; }

  /// The token whose interval holds `at` < row_total. The guide narrows the range, bisection bounds the rest.
  Token find(std::uint64_t at) const { return search().find(at); }

  /// The arrays by their addresses.
  SumSearch search() const { return {below_.data(), below_.size(), guide_.data(), shift_}; }

  /// Prefetch the first and the second read of `find`, and the read of `interval`. Always inlined: g++ drops the
  /// calls as ones without effect otherwise.
  [[gnu::always_inline]] void prefetch_guide(std::uint64_t at) const { __builtin_prefetch(&guide_[at >> shift_]); }
  [[gnu::always_inline]] void prefetch_sums(std::uint64_t at) const {
    __builtin_prefetch(&below_[guide_[at >> shift_] + 1]);
  }
  [[gnu::always_inline]] void prefetch(Token x) const { __builtin_prefetch(&below_[index(x)]); }

 private:
  static std::size_t index(Token x) { return static_cast<std::size_t>(x); }

  std::vector<std::uint64_t> below_;
  std::vector<std::uint32_t> guide_;
  int shift_;
};

}  // namespace draftproof
