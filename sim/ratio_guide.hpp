// A guide over descending ratios: narrows "how many exceed b" to a few entries before bisecting.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace draftproof {

/// Cells are equal steps of b / (1 + b), which maps the ratios 0 .. infinity onto 0 .. 1.
class RatioGuide {
 public:
  RatioGuide() = default;
  explicit RatioGuide(std::span<const double> descending)
      : cells_{std::bit_ceil(descending.size() + 1)}, start_(cells_ + 1) {
    // start_[c] counts the ratios that lie in cells above c; so reach(b) is in [start_[c], start_[c - 1]].
    std::size_t j = 0;
    for (std::size_t cell = cells_ + 1; cell-- > 0;) {
      while (j < descending.size() && cell_of(descending[j]) > cell) ++j;
      start_[cell] = static_cast<std::uint32_t>(j);
    }
  }

  /// Number of entries of `descending` greater than b; b >= 0.
  std::size_t reach(std::span<const double> descending, double b) const {
    const std::size_t cell = cell_of(b);
    std::size_t first = start_[cell], left = (cell == 0 ? descending.size() : start_[cell - 1]) - first;
    constexpr std::size_t strip = 4;
    if (left <= strip && first + strip <= descending.size()) [[likely]] {
      // Entries of lower cells are not greater than b: to count them too spares a loop whose end is as good as
      // random.
      std::size_t beyond = 0;
      for (std::size_t i = 0; i < strip; ++i) beyond += descending[first + i] > b;
      return first + beyond;
    }
    // By selections: which half holds b is as good as random, and a branch on it would be mispredicted.
    while (left > 0) {
      const std::size_t half = left / 2;
      const std::size_t beyond = std::size_t{0} - static_cast<std::size_t>(descending[first + half] > b);
      first += (half + 1) & beyond;
      left = half ^ ((half ^ (left - half - 1)) & beyond);
    }
    return first;
  }

 private:
  /// Monotone in b: each operation is, and rounding keeps it so; b / (1 + b) is not, b rises in two places. Infinity
  /// falls into the last cell.
  std::size_t cell_of(double b) const {
    return static_cast<std::size_t>((1 - 1 / (1 + b)) * static_cast<double>(cells_));
  }

  std::size_t cells_ = 1;
  std::vector<std::uint32_t> start_{0, 0};
};

}  // namespace draftproof
