// Searches in the sorted rows of a table by their addresses: a guide narrows them to a few entries before they
// bisect. Host tables and views of them in a device's memory (ratio_table_view.hpp) run the same code.
//
//   RatioSearch    number of `size` descending ratios that exceed b          (ratio_guide.hpp)
//   SumSearch      the token whose interval of cumulative sums holds `at`    (cumulative_table.hpp)
//
// Cost: O(1) expected, O(log V) at most.
// Correctness: a guide's cells are monotone in the searched value, so the result lies between the entries of a cell
// and of its neighbour.
#pragma once

#include <cstddef>
#include <cstdint>

#include <draftproof/sim/token.hpp>

namespace draftproof {

/// The first i in first .. first + left - 1 with before(i) false, first + left if there is none; `before` is true and
/// then false. Selections replace branches, which would be mispredicted every other time.
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

  /// Monotone in b, because each operation is and rounding preserves it. b / (1 + b) is not: b occurs twice in it.
  /// Infinity falls into the last cell.
  DRAFTPROOF_DEVICE static std::size_t cell_of(double b, std::size_t cells) {
    return static_cast<std::size_t>((1 - 1 / (1 + b)) * static_cast<double>(cells));
  }

  /// Number of ratios greater than b; b >= 0.
  DRAFTPROOF_DEVICE std::size_t prefix_length(double b) const {
    const std::size_t cell = cell_of(b, cells);
    const std::size_t first = start[cell], left = (cell == 0 ? size : start[cell - 1]) - first;
    constexpr std::size_t strip = 4;
    if (left <= strip && first + strip <= size) [[likely]] {
      // Entries of lower cells are at most b. Comparing them too avoids a loop of unpredictable length.
      std::size_t beyond = 0;
      for (std::size_t i = 0; i < strip; ++i) beyond += ratios[first + i] > b;
      return first + beyond;
    }
    return bisected(first, left, [this, b](std::size_t j) { return ratios[j] > b; });
  }
};

struct SumSearch {
  const std::uint64_t* below;  ///< [sums]: mass of the tokens before each, and of all
  std::size_t sums;
  const std::uint32_t* guide;
  int shift;

  /// Length of `guide`: a cell for each 2^shift of the sum 2^62, and one for the sum itself.
  std::size_t guide_size() const { return (std::size_t{1} << (62 - shift)) + 1; }

  DRAFTPROOF_DEVICE std::uint64_t mass(Token x) const {
    const auto i = static_cast<std::size_t>(x);
    return below[i + 1] - below[i];
  }

  /// The token whose interval holds `at`, which is less than the sum of all.
  DRAFTPROOF_DEVICE Token find(std::uint64_t at) const {
    const std::size_t cell = at >> shift;
    const std::size_t first = guide[cell] + 1, left = guide[cell + 1] + 1 - first;
    constexpr std::size_t strip = 4;
    if (left <= strip && first + strip <= sums) [[likely]] {
      // Sums of higher cells exceed `at`. Comparing them too avoids a loop of unpredictable length.
      std::size_t beyond = 0;
      for (std::size_t i = 0; i < strip; ++i) beyond += below[first + i] <= at;
      return static_cast<Token>(first + beyond - 1);
    }
    return static_cast<Token>(bisected(first, left, [this, at](std::size_t i) { return below[i] <= at; }) - 1);
  }

  /// The token at place `at` of the mass outside the n distinct tokens at `sorted`, in ascending order; steps over
  /// their intervals.
  DRAFTPROOF_DEVICE Token find_outside(const Token* sorted, int n, std::uint64_t at) const {
    for (int i = 0; i < n && below[static_cast<std::size_t>(sorted[i])] <= at; ++i) at += mass(sorted[i]);
    return find(at);
  }
};

}  // namespace draftproof
