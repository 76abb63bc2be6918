// Searches in sorted arrays given by their addresses: a guide narrows the range to a few entries, which are bisected.
// Host tables and views of them in a device's memory (ratio_table_view.hpp) run the same code.
//
//   RatioSearch    number of `size` descending ratios that exceed b          (ratio_bins.hpp)
//   SumSearch      the token whose interval of cumulative sums holds `at`    (CumulativeTable)
//
// Cost: O(1) expected, O(log V) at most.
// Correctness: a guide's cells are monotone in the searched value, so the result lies between the guide's entries
// for the value's cell and for a neighbouring cell.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

/// Returns the first i in first .. first + left - 1 with before(i) false, first + left if all are true. Requires that
/// before(i) does not become true again as i grows. Masks replace branches, half of which would be mispredicted.
template <class Before>
DRAFTPROOF_DEVICE std::size_t bisected(std::size_t first, std::size_t left, const Before& before) {
  while (left > 0) {
    const std::size_t half = left / 2;
    const std::size_t beyond = std::size_t{0} - static_cast<std::size_t>(before(first + half));
    first += (half + 1) & beyond;
    left = half ^ ((half ^ (left - half - 1)) & beyond);
  }
  return first;
}

struct RatioSearch {
  const double* ratios;  ///< descending
  std::size_t size;
  const std::uint32_t* start;  ///< [cells + 1]
  std::size_t cells;

  /// Returns the cell of b; infinity falls into the last cell. The cell is monotone in b, because each operation is,
  /// with its rounding. b / (1 + b), in which b occurs twice, would not be monotone.
  DRAFTPROOF_DEVICE static std::size_t cell_of(double b, std::size_t cells) {
    return static_cast<std::size_t>((1 - 1 / (1 + b)) * static_cast<double>(cells));
  }

  /// Returns the number of ratios greater than b; b >= 0.
  DRAFTPROOF_DEVICE std::size_t prefix_length(double b) const {
    const std::size_t cell = cell_of(b, cells);
    const std::size_t first = start[cell], left = (cell == 0 ? size : start[cell - 1]) - first;
    constexpr std::size_t strip = 4;
    if (left <= strip && first + strip <= size) [[likely]] {
      // Always compares `strip` entries: those after the cell are at most b and add 0. The processor mispredicts the
      // end of a loop of varying length.
      std::size_t beyond = 0;
      for (std::size_t i = 0; i < strip; ++i) beyond += ratios[first + i] > b;
      return first + beyond;
    }
    return bisected(first, left, [this, b](std::size_t j) { return ratios[j] > b; });
  }
};

struct SumSearch {
  const std::uint64_t* below;  ///< [sums]: mass of the tokens before each token; the last entry is the total mass
  std::size_t sums;
  const std::uint32_t* guide;
  int shift;

  /// Returns the length of `guide`: a cell for each 2^shift units of the total 2^62, and a cell for the total itself.
  std::size_t guide_size() const { return (std::size_t{1} << (62 - shift)) + 1; }

  DRAFTPROOF_DEVICE std::uint64_t mass(Token x) const {
    const auto i = static_cast<std::size_t>(x);
    return below[i + 1] - below[i];
  }

  /// Returns the token whose interval contains `at`, which is less than the total.
  DRAFTPROOF_DEVICE Token find(std::uint64_t at) const {
    const std::size_t cell = at >> shift;
    const std::size_t first = guide[cell] + 1, left = guide[cell + 1] + 1 - first;
    constexpr std::size_t strip = 4;
    if (left <= strip && first + strip <= sums) [[likely]] {
      // Always compares `strip` sums: those after the cell exceed `at` and add 0. The processor mispredicts the end of
      // a loop of varying length.
      std::size_t beyond = 0;
      for (std::size_t i = 0; i < strip; ++i) beyond += below[first + i] <= at;
      return static_cast<Token>(first + beyond - 1);
    }
    return static_cast<Token>(bisected(first, left, [this, at](std::size_t i) { return below[i] <= at; }) - 1);
  }

  /// Returns the token at `at` of the mass outside the n distinct tokens at `sorted`, which ascend: adds the mass of
  /// every removed interval that begins at or before `at`.
  DRAFTPROOF_DEVICE Token find_outside(const Token* sorted, int n, std::uint64_t at) const {
    for (int i = 0; i < n && below[static_cast<std::size_t>(sorted[i])] <= at; ++i) at += mass(sorted[i]);
    return find(at);
  }
};

// Cumulative sums of a quantised row with a guide table: draws outside a set of tokens, each by 64 random bits.

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

  /// Returns the mass of a token in units of 2^-62.
  std::uint64_t mass(Token x) const { return below_[index(x) + 1] - below_[index(x)]; }

  /// Returns the mass outside the n distinct tokens at `seen` in units of 2^-62, exactly.
  std::uint64_t mass_without(const Token* seen, int n) const {
    std::uint64_t mass_left = row_total;
    for (int i = 0; i < n; ++i) mass_left -= mass(seen[i]);
    return mass_left;
  }

  /// Draws a token outside `seen`; no_token if no mass is left.
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

  /// Returns the token whose interval contains `at` < row_total.
  Token find(std::uint64_t at) const { return search().find(at); }

  /// Returns the addresses of the arrays.
  SumSearch search() const { return {below_.data(), below_.size(), guide_.data(), shift_}; }

  /// Prefetch the first read of find(), its second read, and the read of interval(). Always inlined, because g++
  /// removes calls of functions that only prefetch.
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
