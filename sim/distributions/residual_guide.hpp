// A guide to the draws of one residual: for every interval of words, the range to which a bisection narrows before
// words of the interval take different branches.
//
//   c        word >> shift        cell: an interval of consecutive words
//   low .. high                   range of the bisection that all words of the cell share
//
// Cost: one pass over the bisection's tree down to the nodes where cells split, about 2 n steps. A draw then runs the
// rest of its bisection, on average less than two steps.
// Correctness: a range is narrowed only by comparisons that the least and the greatest threshold of the cell decide
// alike, and thresholds rise with the word.
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

  /// Guide to bisections for the first j < count with bound(j) > unit_interval(word) * total.
  template <class Bound>
  ResidualGuide(std::size_t count, double total, const Bound& bound) : cells_(cells_for(count)) {
    shift_ = 64 - std::countr_zero(cells_.size());
    if (count > 0) descend({0, static_cast<std::uint32_t>(count - 1)}, 0, cells_.size(), total, bound);
  }

  /// The range from which the bisection of `word` continues.
  Range range(std::uint64_t word) const { return cells_[word >> shift_]; }

  /// Number of cells; a larger guide would be read from a farther cache.
  static std::size_t cells_for(std::size_t count) {
    return std::clamp<std::size_t>(4 * std::bit_ceil(count), 64, std::size_t{1} << 15);
  }

 private:
  /// Cells first .. last - 1 share `range`; narrows it for each.
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
    // Cells before `below` have every threshold below the cut, cells from `above` on have none; at most one lies
    // between.
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
