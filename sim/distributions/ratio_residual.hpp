// A residual on a ratio table: p - b q on the tokens with p > c q, which come first in the table's order, and
// p (1 - b / c) on the other tokens. If c is infinite, the residual is (p - b q)+, on the first n tokens; otherwise it
// is p - b min(q, p / c).
//
//   c       clip_ratio       infinity for (p - b q)+
//   n       count            number of leading tokens of the order on which the residual may be positive
//   w_j     up_to(j)         sum of the residual over the first j tokens
//   draw                     the j that bisection finds with w_(j+1) > u w_n
//
// Cost: O(log V) for each draw; O(1) expected with a guide of the same residual.
// Correctness: a guide (ResidualGuide) divides the random bits into intervals and stores for each interval the range
// that the bisection reaches by comparisons with the same outcome for the whole interval. So a draw with a guide gives
// the token of the plain bisection, even if rounding makes w_j fall with j.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <draftproof/sim/random/tape.hpp>
#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

// A guide to the draws of one residual. It divides the random bits into intervals (cells), and stores for each cell the
// range that a bisection reaches before the first comparison whose outcome differs between thresholds of the cell. The
// threshold of random bits is u w_n.
//
//   c        word >> shift        cell: an interval of consecutive 64-bit integers
//   low .. high                   range that the bisections of all integers of the cell reach
//
// Cost: one pass over the bisection's tree down to the nodes where cells split, about 2 n steps. A draw then runs the
// rest of its bisection, on average less than two steps.
// Correctness: a range is narrowed only by comparisons that have the same outcome for the least and the greatest
// threshold of the cell, and thresholds rise with `word`.

class ResidualGuide {
 public:
  struct Range {
    std::uint32_t low, high;
    DRAFTPROOF_DEVICE std::uint32_t middle() const { return low + (high - low) / 2; }
  };

  /// Constructs the guide for bisections that find the first j < count with bound(j) > unit_interval(word) * total.
  template <class Bound>
  ResidualGuide(std::size_t count, double total, const Bound& bound) : cells_(cells_for(count)) {
    shift_ = 64 - std::countr_zero(cells_.size());
    if (count > 0) descend({0, static_cast<std::uint32_t>(count - 1)}, 0, cells_.size(), total, bound);
  }

  /// Returns the stored range of the cell of `word`, from which the bisection for these random bits continues.
  Range range(std::uint64_t word) const { return cells_[word >> shift_]; }

  /// Returns the number of cells, limited to 2^15 because a larger guide would not stay in a fast cache.
  static std::size_t cells_for(std::size_t count) {
    return std::clamp<std::size_t>(4 * std::bit_ceil(count), 64, std::size_t{1} << 15);
  }

 private:
  /// Narrows the common `range` of cells first .. last - 1 for each cell, and stores the results.
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
    // In cells before `below` all thresholds are below `cut`; in cells from `above` on all thresholds are at least
    // `cut`. At most one cell lies between the two.
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

/// The residual. It refers to the table and to the guide, if one is set; both must outlive it.
template <class Table>
class RatioResidual {
 public:
  /// `bend`: index of the first token with p <= clip_ratio q; at least `count` if there is no such token.
  DRAFTPROOF_DEVICE RatioResidual(const Table& table, double b, double clip_ratio, std::size_t count,
                                  std::size_t bend)
      : table_{&table},
        b_{b},
        clip_ratio_{clip_ratio},
        count_{count},
        bend_{bend < count ? bend : count},
        tail_{1 - b / clip_ratio} {}

  double b() const { return b_; }
  double clip_ratio() const { return clip_ratio_; }
  /// Whether `other` is the same residual of the same table with the same guide.
  bool is(const RatioResidual& other) const {
    return b_ == other.b_ && clip_ratio_ == other.clip_ratio_ && guide_ == other.guide_ && table_ == other.table_;
  }

  /// Sets the guide that draws start from; it must be a guide of this residual.
  void lead(const ResidualGuide* guide) { guide_ = guide; }
  /// Returns a new guide of this residual.
  ResidualGuide guide() const {
    return {count_, total(), [this](std::size_t j) { return up_to(j + 1); }};
  }

  DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const {
    Search search = start(word);
    while (search.range.low < search.range.high) step(search);
    return found(search);
  }

  /// A draw in steps, so that many draws can be interleaved. It ends when low = high.
  struct Search {
    double threshold;
    ResidualGuide::Range range;  ///< the result lies in low .. high
  };
  DRAFTPROOF_DEVICE Search start(std::uint64_t word) const {
    const double all = total();
    if (!(all > 0)) return {0, {nowhere, nowhere}};
    const double threshold = unit_interval(word) * all;
#if !defined(__CUDA_ARCH__)
    if (guide_ != nullptr) return {threshold, guide_->range(word)};
#endif
    return {threshold, {0, static_cast<std::uint32_t>(count_ - 1)}};
  }
  DRAFTPROOF_DEVICE void step(Search& search) const {
    auto& [low, high] = search.range;
    const std::uint32_t middle = search.range.middle();
    // Uses masks instead of a branch, which would be mispredicted half of the time.
    const std::uint32_t before = std::uint32_t{0} - static_cast<std::uint32_t>(up_to(middle + 1) > search.threshold);
    high = (middle & before) | (high & ~before);
    low = (low & before) | ((middle + 1) & ~before);
  }
  DRAFTPROOF_DEVICE Token found(const Search& search) const {
    return search.range.low == nowhere ? no_token : table_->order()[search.range.low];
  }
  /// Prefetches the entry that the next step reads. Always inlined, because g++ removes calls that only prefetch.
  [[gnu::always_inline]] void prefetch(const Search& search) const {
    __builtin_prefetch(table_->prefix().data() + search.range.middle() + 1);
  }

  DRAFTPROOF_DEVICE double weight(Token x) const {
    const double p = table_->target(x), q = table_->proposal(x);
    const double left = bend_ == count_ || p > clip_ratio_ * q ? p - b_ * q : p * tail_;
    return left < 0.0 ? 0.0 : left;
  }
  DRAFTPROOF_DEVICE double total() const { return up_to(count_); }
  template <class Visit>
  DRAFTPROOF_DEVICE void for_each(Visit visit) const {
    for (std::size_t j = 0; j < count_; ++j) {
      const Token x = table_->order()[j];
      const double weight = j < bend_ ? table_->target(x) - b_ * table_->proposal(x) : table_->target(x) * tail_;
      if (weight > 0) visit(x, weight);
    }
  }
  template <class Visit>
  void for_each_realised(Visit visit) const {
    if (const double all = total(); all > 0)
      realise_bisection(
          0, count_ - 1, 0, all, [this](std::size_t j) { return up_to(j + 1); },
          [&](std::size_t j, double share) { visit(table_->order()[j], share); });
  }

 private:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

  DRAFTPROOF_DEVICE double up_to(std::size_t j) const {
    if (j <= bend_) return table_->prefix_residual(j, b_);
    return table_->prefix_residual(bend_, b_) + (table_->prefix()[j].target - table_->prefix()[bend_].target) * tail_;
  }

  const Table* table_;
  const ResidualGuide* guide_ = nullptr;
  double b_, clip_ratio_;
  std::size_t count_, bend_;
  double tail_;
};

}  // namespace draftproof
