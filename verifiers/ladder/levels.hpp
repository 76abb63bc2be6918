// The levels of a ladder as a trial reads them: one uniform u decides which breaks are up, and these cut the bins
// into groups.
//
//   u        draw(random)           as the interval between adjacent distinct levels that contains it
//            together(top, bin, u)  whether no break from below `top` down to `bin` is up
//   [a, b)   for_each_group(bin)    the groups of `bin` as u goes from 0 to 1, and the length of u for each
//
// Cost: O(n log n) once, for the table of range maxima; O(log n) per draw, O(1) per pair of bins, O(n) for all groups
// of a bin.
// Correctness: in double the levels are multiples of 2^-53, as uniforms are, so the probability of every interval is
// exactly its length.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/sampling/guide_table.hpp>
#include <draftproof/verifiers/ladder/level_sweep.hpp>

namespace draftproof {

// Range maxima of small integers: O(1) per range after O(n log n) once, or a linear scan if few ranges are looked up.
//
//   row k     places(k) ..    maximum of the 2^k values from i on, for i = 0 .. n - 2^k; row 0 is the values
//
// Correctness: a range of any length is the union of two ranges of one power of two, which may overlap.

/// All rows, concatenated, in memory of the host or of a device.
struct RangeSearch {
  const std::uint32_t* rows;
  std::size_t size;

  /// Index of the first entry of row k.
  DRAFTPROOF_DEVICE static std::size_t places(std::size_t k, std::size_t size) {
    return k * (size + 1) + 1 - (std::size_t{1} << k);
  }
  /// Maximum of values [first, last); first < last.
  DRAFTPROOF_DEVICE std::uint32_t of(int first, int last) const {
    const auto a = static_cast<std::size_t>(first), b = static_cast<std::size_t>(last);
#if defined(__CUDA_ARCH__)
    const auto row = static_cast<std::size_t>(31 - __clz(last - first));
#else
    const auto row = static_cast<std::size_t>(std::bit_width(b - a)) - 1;
#endif
    const std::uint32_t* const largest = rows + places(row, size);
    const std::uint32_t one = largest[a], other = largest[b - (std::size_t{1} << row)];
    return one < other ? other : one;
  }
};

class RangeMaximum {
 public:
  RangeMaximum() = default;
  RangeMaximum(const HostWorkspace&, std::vector<std::uint32_t> values, bool many_runs)
      : RangeMaximum(std::move(values), many_runs) {}
  /// `many_runs`: whether to make the rows for O(1) look-ups.
  RangeMaximum(std::vector<std::uint32_t> values, bool many_runs)
      : size_{values.size()}, many_{many_runs}, rows_{std::move(values)} {
    for (std::size_t width = 1; many_ && 2 * width <= size_; width *= 2) {
      const std::size_t narrow = rows_.size() - (size_ + 1 - width);
      for (std::size_t i = 0; i + 2 * width <= size_; ++i)
        rows_.push_back(std::max(rows_[narrow + i], rows_[narrow + i + width]));
    }
  }

  /// Maximum of values [first, last); first < last.
  std::uint32_t of(int first, int last) const {
    if (many_) return search().of(first, last);
    return *std::max_element(rows_.begin() + first, rows_.begin() + std::max(last, first + 1));
  }
  std::uint32_t of(int i) const { return rows_[static_cast<std::size_t>(i)]; }
  bool none_above(int first, int last, std::uint32_t u) const { return of(first, last) <= u; }
  /// Requires that this was made with many_runs.
  RangeSearch search() const { return {rows_.data(), size_}; }
  const std::vector<std::uint32_t>& rows() const { return rows_; }

 private:
  std::size_t size_ = 0;
  bool many_ = false;
  std::vector<std::uint32_t> rows_;
};

/// A uniform index from 0 to size - 1.
struct UniformIndex {
  int size;
  DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const {
    return static_cast<Token>(scale(word, static_cast<std::uint64_t>(size)));
  }
  template <class Visit>
  DRAFTPROOF_DEVICE void for_each(Visit visit) const {
    for (Token i = 0; i < size; ++i) visit(i, 1);
  }
};

/// Intervals of u as weights: interval j is [distinct[j], distinct[j + 1]), and its weight is its length.
template <class Scalar, class List>
struct LevelIntervals {
  static constexpr bool many_branches = true;
  const List& distinct;
  DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const {
    const double u = unit_interval(word);
    const auto not_above = [&](std::size_t j) { return !(u < static_cast<double>(distinct[j])); };
    return static_cast<Token>(bisected(0, distinct.size(), not_above)) - 1;
  }
  template <class Visit>
  DRAFTPROOF_DEVICE void for_each(Visit visit) const {
    for (std::size_t j = 0; j + 1 < distinct.size(); ++j)
      visit(static_cast<Token>(j), Scalar(distinct[j + 1] - distinct[j]));
  }
};

/// Bins first .. end - 1.
struct BinRange {
  int first, end;
};

template <class Scalar, class Workspace = HostWorkspace>
class LadderLevels {
 public:
  LadderLevels() = default;
  /// `many_trials`: whether to make tables that only pay off for many trials.
  LadderLevels(const LadderPlan<Scalar>& plan, bool many_trials) : LadderLevels(Workspace{}, plan, many_trials) {}
  DRAFTPROOF_DEVICE LadderLevels(const Workspace& workspace, const LadderPlan<Scalar, Workspace>& plan,
                                 bool many_trials)
      : LadderLevels(workspace, plan.level, plan.leaving, many_trials) {}
  /// `level` is indexed like LadderPlan::level.
  explicit LadderLevels(const std::vector<Scalar>& level) : LadderLevels(Workspace{}, level, by_level(level), true) {}

  /// A break is up if the rank of its level is above the rank of the interval.
  using Interval = std::uint32_t;

  /// Returns the interval of a new uniform.
  template <class R>
  DRAFTPROOF_DEVICE Interval draw(R& random) const {
    return static_cast<Interval>(random.pick(LevelIntervals<Scalar, ListIn<Workspace, Scalar>>{distinct_}));
  }

  /// Whether no break from below bin `top` down to `bin` is up; top <= bin.
  DRAFTPROOF_DEVICE bool together(int top, int bin, Interval u) const {
    return bin == top || ranks_.none_above(top + 1, bin + 1, u);
  }

  /// Returns the bins of the group that contains `bin`. Cost: O(log n) with tables for many trials, otherwise O(n).
  DRAFTPROOF_DEVICE BinRange group(int bin, Interval u) const {
    const auto at = [](int i) { return static_cast<std::size_t>(i); };
    const auto outside = [&](std::size_t a) { return !ranks_.none_above(static_cast<int>(a) + 1, bin + 1, u); };
    const auto inside = [&](std::size_t b) { return ranks_.none_above(bin + 1, static_cast<int>(b) + 1, u); };
    return {static_cast<int>(bisected(0, at(bin), outside)),
            static_cast<int>(bisected(at(bin + 1), at(bins_ - bin - 1), inside))};
  }

  /// The distinct levels from 0 to 1, and the ranks of breaks among them.
  const ListIn<Workspace, Scalar>& distinct() const { return distinct_; }
  const RangeMaximum& ranks() const { return ranks_; }

  /// Calls `visit(a, b, share)` for each group a .. b - 1 of bins that contains `bin`; the shares of u sum to 1.
  template <class Visit>
  DRAFTPROOF_DEVICE void for_each_group(int bin, Visit visit) const {
    constexpr Interval never = ~Interval{0};
    const auto leaves = [this](int i) { return i > 0 && i < bins_ ? ranks_.of(i) : never; };
    int a = bin, b = bin + 1;
    const auto end = static_cast<Interval>(distinct_.size() - 1);
    for (Interval u = 0; u < end;) {
      while (leaves(a) <= u) --a;
      while (leaves(b) <= u) ++b;
      const Interval above = leaves(a), below = leaves(b), first = below < above ? below : above;
      const Interval next = end < first ? end : first;
      visit(a, b, Scalar(distinct_[next] - distinct_[u]));
      u = next;
    }
  }

 private:
  static constexpr bool alone = std::is_same_v<Workspace, HostWorkspace>;
  using Rank = std::conditional_t<alone, Interval, typename Workspace::Index>;

  /// The form of RangeMaximum for a team, whose threads scan the ranks.
  class TeamRanks {
   public:
    TeamRanks() = default;
    DRAFTPROOF_DEVICE TeamRanks(const Workspace& workspace, const ListIn<Workspace, Rank>& ranks, bool)
        : workspace_{&workspace}, ranks_{ranks} {}
    DRAFTPROOF_DEVICE Interval of(int i) const { return ranks_[static_cast<std::size_t>(i)]; }
    DRAFTPROOF_DEVICE bool none_above(int first, int last, Interval u) const {
      return workspace_->first(first, last, [&](int i) { return ranks_[static_cast<std::size_t>(i)] > u; }) == last;
    }

   private:
    const Workspace* workspace_ = nullptr;
    ListIn<Workspace, Rank> ranks_;
  };

  /// `leaving` lists the breaks whose level is neither 0 nor 1, by ascending level.
  template <class Leaving>
  DRAFTPROOF_DEVICE LadderLevels(const Workspace& workspace, const ListIn<Workspace, Scalar>& level,
                                 const Leaving& leaving, bool many_trials)
      : bins_{static_cast<int>(level.size())},
        distinct_(workspace.template persistent<Scalar>(static_cast<int>(leaving.size()) + 2)),
        ranks_(workspace, ranked(workspace, level, leaving), many_trials) {}

  /// Returns the rank of each level and stores the distinct levels.
  template <class Leaving>
  [[gnu::noinline]] DRAFTPROOF_DEVICE ListIn<Workspace, Rank> ranked(const Workspace& workspace,
                                                                     const ListIn<Workspace, Scalar>& level,
                                                                     const Leaving& leaving) {
    auto ranks = workspace.template persistent<Rank>(bins_);
    const auto height = [&](int k) -> const Scalar& {
      return level[static_cast<std::size_t>(leaving[static_cast<std::size_t>(k)])];
    };
    workspace.each(bins_, [&](int i) { ranks[static_cast<std::size_t>(i)] = 0; });
    const int last = workspace.scan(
        static_cast<int>(leaving.size()), 0, [&](int k) { return k == 0 || height(k - 1) < height(k) ? 1 : 0; },
        Plus{},
        [&](int k, int before, int own) {
          const auto rank = static_cast<std::size_t>(before + own);
          if (own != 0) distinct_[rank] = height(k);
          ranks[static_cast<std::size_t>(leaving[static_cast<std::size_t>(k)])] = static_cast<Rank>(rank);
        });
    workspace.each(bins_, [&](int i) {
      const auto place = static_cast<std::size_t>(i);
      if (i > 0 && !(level[place] < Scalar{1})) ranks[place] = static_cast<Rank>(last + 1);
    });
    workspace.each(1, [&](int) {
      distinct_[0] = Scalar{0};
      distinct_[static_cast<std::size_t>(last) + 1] = Scalar{1};
    });
    distinct_.resize(static_cast<std::size_t>(last) + 2);
    return ranks;
  }

  static std::vector<int> by_level(const std::vector<Scalar>& level) {
    const auto at = [&level](int i) -> const Scalar& { return level[static_cast<std::size_t>(i)]; };
    std::vector<int> leaving;
    for (int i = 1; i < static_cast<int>(level.size()); ++i)
      if (Scalar{0} < at(i) && at(i) < Scalar{1}) leaving.push_back(i);
    std::sort(leaving.begin(), leaving.end(), [&at](int i, int j) { return at(i) < at(j); });
    return leaving;
  }

  int bins_ = 0;
  ListIn<Workspace, Scalar> distinct_;                        ///< distinct levels, ascending from 0 to 1
  std::conditional_t<alone, RangeMaximum, TeamRanks> ranks_;  ///< rank i: index in distinct_ of the level of break i
};

}  // namespace draftproof
