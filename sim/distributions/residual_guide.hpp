// A guide to the draws of one residual: for every stretch of words, how far a bisection gets before words of the
// stretch part ways.
//
//   c        word >> shift        cell: a stretch of consecutive words
//   low .. high                   where the bisection of every word of the cell stands then
//
// Cost: one pass over the bisection's tree down to where cells part, about 2 n steps; a draw then has the rest of its
// bisection to do, on average less than two steps. Right because a range is narrowed only by comparisons that the
// least and the greatest threshold of the cell decide alike, and thresholds rise with the word.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <draftproof/sim/random/uniform_source.hpp>

namespace draftproof {

class ResidualGuide {
 public:
  struct Range {
    std::uint32_t low, high;
    DRAFTPROOF_DEVICE std::uint32_t middle() const { return low + (high - low) / 2; }
  };

  /// For the first j < count with bound(j) > unit_interval(word) * total, as bisection finds it.
  template <class Bound>
  ResidualGuide(std::size_t count, double total, const Bound& bound) : cells_(cells_for(count)) {
    shift_ = 64 - std::countr_zero(cells_.size());
    if (count > 0) descend({0, static_cast<std::uint32_t>(count - 1)}, 0, cells_.size(), total, bound);
  }

  Range range(std::uint64_t word) const { return cells_[word >> shift_]; }

  /// More cells would be read from further away.
  static std::size_t cells_for(std::size_t count) {
    return std::clamp<std::size_t>(4 * std::bit_ceil(count), 64, std::size_t{1} << 15);
  }

 private:
  /// Cells first .. last - 1 have come to `range` together.
  template <class Bound>
  void descend(Range range, std::size_t first, std::size_t last, double total, const Bound& bound) {
    if (first == last) return;
    if (range.low == range.high) {
      std::fill(cells_.begin() + static_cast<std::ptrdiff_t>(first),
                cells_.begin() + static_cast<std::ptrdiff_t>(last), range);
      return;
    }
    const std::uint32_t middle = range.middle();
    const double cut = bound(middle);
    // Cells whose every threshold lies below the cut, and those where none does; at most one lies between.
    std::size_t below = first, above = last;
    while (below < above) {
      const std::size_t cell = below + (above - below) / 2;
      if (unit_interval(last_word(cell)) * total < cut)
        below = cell + 1;
      else
        above = cell;
    }
    if (below < last && unit_interval(static_cast<std::uint64_t>(below) << shift_) * total < cut)
      cells_[above++] = range;
    descend({range.low, middle}, first, below, total, bound);
    descend({middle + 1, range.high}, above, last, total, bound);
  }
  std::uint64_t last_word(std::size_t cell) const { return ((static_cast<std::uint64_t>(cell) + 1) << shift_) - 1; }

  std::vector<Range> cells_;
  int shift_;
};

}  // namespace draftproof
