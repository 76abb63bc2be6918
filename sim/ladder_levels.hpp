// The levels of a ladder as a trial uses them: one uniform u says which breaks are up, and those cut the rungs into
// groups.
//
//   u        draw(random)            as the interval between two distinct levels that it falls in: no more is asked
//            together(top, rung, u)  no break from below `top` down to `rung` is up
//   [a, b)   for_each_group(rung)    the groups `rung` is in as u goes from 0 to 1, and how long in each
//
// Cost: O(n log n) once, for the largest of any run; O(log n) a draw, O(1) a pair of rungs, O(n) for all groups of a
// rung. In double the levels are multiples of 2^-53, as uniforms are: every interval has exactly the probability its
// length says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <draftproof/sim/ladder_sweep.hpp>
#include <draftproof/sim/range_maximum.hpp>
#include <draftproof/sim/uniform_source.hpp>

namespace draftproof {

/// 0 .. size - 1, all alike.
struct EqualWeights {
  int size;
  Token draw(std::uint64_t word) const { return static_cast<Token>(scale(word, static_cast<std::uint64_t>(size))); }
  template <class Visit>
  void for_each(Visit visit) const {
    for (Token i = 0; i < size; ++i) visit(i, 1);
  }
};

template <class Scalar>
class LadderLevels {
 public:
  /// `many_trials`: whether tables for them are worth their making.
  LadderLevels(const LadderPlan<Scalar>& plan, bool many_trials)
      : LadderLevels(plan.level, plan.leaving, many_trials) {}
  /// `level` as LadderPlan has it.
  explicit LadderLevels(const std::vector<Scalar>& level) : LadderLevels(level, by_level(level), true) {}

  /// A break is up when its level has a rank above the interval's.
  using Interval = std::uint32_t;

  template <class R>
  Interval draw(R& random) const {
    return static_cast<Interval>(random.pick(Intervals{distinct_}));
  }

  bool together(int top, int rung, Interval u) const { return rung == top || rank_.of(top + 1, rung + 1) <= u; }

  /// Calls `visit(a, b, share)` for each group of rungs a .. b - 1 that holds `rung`; the shares of u sum to 1.
  template <class Visit>
  void for_each_group(int rung, Visit visit) const {
    constexpr auto never = std::numeric_limits<Interval>::max();
    const auto leaves = [this](int i) { return i > 0 && i < rungs_ ? rank_.of(i, i + 1) : never; };
    int a = rung, b = rung + 1;
    const auto end = static_cast<Interval>(distinct_.size() - 1);
    for (Interval u = 0; u < end;) {
      while (leaves(a) <= u) --a;
      while (leaves(b) <= u) ++b;
      const Interval next = std::min({leaves(a), leaves(b), end});
      visit(a, b, Scalar(distinct_[next] - distinct_[u]));
      u = next;
    }
  }

 private:
  /// `leaving` lists the breaks whose level is neither 0 nor 1, by rising level.
  LadderLevels(const std::vector<Scalar>& level, const std::vector<int>& leaving, bool many_trials)
      : rungs_{static_cast<int>(level.size())}, distinct_{Scalar{0}} {
    distinct_.reserve(leaving.size() + 2);
    std::vector<std::uint32_t> ranks(level.size());
    for (const int i : leaving) {
      const Scalar& height = level[static_cast<std::size_t>(i)];
      if (distinct_.back() < height) distinct_.push_back(height);
      ranks[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(distinct_.size() - 1);
    }
    distinct_.push_back(Scalar{1});
    for (std::size_t i = 1; i < ranks.size(); ++i)
      if (!(level[i] < Scalar{1})) ranks[i] = static_cast<std::uint32_t>(distinct_.size() - 1);
    rank_ = RangeMaximum(std::move(ranks), many_trials);
  }
  static std::vector<int> by_level(const std::vector<Scalar>& level) {
    const auto at = [&level](int i) -> const Scalar& { return level[static_cast<std::size_t>(i)]; };
    std::vector<int> leaving;
    for (int i = 1; i < static_cast<int>(level.size()); ++i)
      if (Scalar{0} < at(i) && at(i) < Scalar{1}) leaving.push_back(i);
    std::sort(leaving.begin(), leaving.end(), [&at](int i, int j) { return at(i) < at(j); });
    return leaving;
  }

  /// Interval j of u is [distinct[j], distinct[j + 1]).
  struct Intervals {
    static constexpr bool many_branches = true;
    const std::vector<Scalar>& distinct;
    Token draw(std::uint64_t word) const {
      const auto above =
          std::upper_bound(distinct.begin(), distinct.end(), unit_interval(word),
                           [](double u, const Scalar& level) { return u < static_cast<double>(level); });
      return static_cast<Token>(above - distinct.begin()) - 1;
    }
    template <class Visit>
    void for_each(Visit visit) const {
      for (std::size_t j = 0; j + 1 < distinct.size(); ++j)
        visit(static_cast<Token>(j), Scalar(distinct[j + 1] - distinct[j]));
    }
  };

  int rungs_;
  std::vector<Scalar> distinct_;  ///< levels that occur, ascending from 0 to 1
  RangeMaximum rank_;             ///< of break i: the place of its level among the distinct ones
};

}  // namespace draftproof
