// The law of a selection by groups and levels where every draft has a proposal of its own: the mean, over the uniform
// of the levels, of the K slopes of the group that a bin is in.
//
//   below[k][i]   mass of proposal k in bins i .. n - 1; entry n is 0
//   Z_k, G_k      below[k][b], below[k][a] - below[k][b]     masses below the group a .. b - 1 and in it
//   A_k           integral over t in [0, 1] of the product over l != k of Z_l + G_l t
//   slope[k][i]   mean of A_k over the groups that hold bin i: Pr(draft k is x and is selected) / q_k(x)
//
// Draft k is selected if it is in the group, no other draft is above the group, and it is the one chosen uniformly of
// those in it. Where n others are in the group, 1 / (n + 1) is the integral of t^n.
// With fewer rows than drafts the last row is that of all further drafts.
// Cost: n groups at least and 2 n at most, K^2 a row and group.
// Correctness: docs/ladder.md, "Different proposals". A group stands while u is at least every level inside it and
// below the levels at its two ends, so groups are the nodes of the tree of greatest levels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace draftproof {

template <class Scalar>
using ProposalRows = std::vector<std::vector<Scalar>>;

/// below[k][i] from own[k][i], the mass of proposal k in bin i.
template <class Scalar>
ProposalRows<Scalar> sums_below(const ProposalRows<Scalar>& own) {
  ProposalRows<Scalar> below;
  for (const auto& row : own) {
    auto& sums = below.emplace_back(row.size() + 1, Scalar{0});
    for (std::size_t i = row.size(); i-- > 0;) sums[i] = sums[i + 1] + row[i];
  }
  return below;
}

namespace detail {

/// Adds share A_k to sum[k] for the group a .. b - 1; `power` is scratch memory.
template <class Scalar>
void add_group_slopes(const ProposalRows<Scalar>& below, int drafts, std::size_t a, std::size_t b,
                      const Scalar& share, Scalar* sum, std::vector<Scalar>& power) {
  const std::size_t all = static_cast<std::size_t>(drafts);
  for (std::size_t k = 0; k < below.size(); ++k) {
    power.assign(1, Scalar{1});  // coefficients of the product in t
    for (std::size_t l = 0; l < all; ++l) {
      if (l == k) continue;
      const auto& row = below[std::min(l, below.size() - 1)];
      const Scalar within = row[a] - row[b];
      power.push_back(Scalar{0});
      for (std::size_t i = power.size(); --i > 0;) power[i] = power[i] * row[b] + power[i - 1] * within;
      power[0] *= row[b];
    }
    Scalar slope{0};
    for (std::size_t i = 0; i < all; ++i) slope += power[i] / Scalar(static_cast<int>(i) + 1);
    sum[k] += slope * share;
  }
}

/// For each break the breaks of the greatest levels on its two sides, up to the next greater level: a tree.
struct LevelTree {
  std::vector<std::size_t> left, right;  ///< 0: none
  std::size_t root = 0;

  /// `level` is indexed like LadderPlan::level.
  template <class Scalar>
  explicit LevelTree(const std::vector<Scalar>& level) : left(level.size(), 0), right(level.size(), 0) {
    std::vector<std::size_t> open;
    for (std::size_t i = 1; i < level.size(); ++i) {
      while (!open.empty() && level[open.back()] < level[i]) {
        left[i] = open.back();
        open.pop_back();
      }
      if (!open.empty()) right[open.back()] = i;
      open.push_back(i);
    }
    if (!open.empty()) root = open.front();
  }
};

}  // namespace detail

/// slope[k][i] for every row of `below`; `level` is indexed like LadderPlan::level. Bins in which no row has mass may
/// get any slope.
template <class Scalar>
ProposalRows<Scalar> group_slopes(const std::vector<Scalar>& level, const ProposalRows<Scalar>& below, int drafts) {
  const std::size_t bins = below.front().size() - 1, rows = below.size();
  ProposalRows<Scalar> slope(rows, std::vector<Scalar>(bins, Scalar{0}));
  const detail::LevelTree tree(level);
  struct Group {
    std::size_t split, first, end;  ///< the break of the greatest level inside, 0 for none; its bins
    Scalar until;                   ///< it stands while u is below this
  };
  std::vector<Group> open{{tree.root, 0, bins, Scalar{1}}};
  // For each open group the sum of A_k over the groups around it, times their shares of u.
  std::vector<Scalar> sums(rows, Scalar{0}), sum, power;
  while (!open.empty()) {
    const Group group = std::move(open.back());
    open.pop_back();
    sum.assign(sums.end() - static_cast<std::ptrdiff_t>(rows), sums.end());
    sums.resize(sums.size() - rows);
    const auto empty = [&group](const auto& row) { return !(row[group.first] > row[group.end]); };
    if (std::all_of(below.begin(), below.end(), empty)) continue;
    const Scalar from = group.split == 0 ? Scalar{0} : level[group.split];
    if (from < group.until)
      detail::add_group_slopes(below, drafts, group.first, group.end, Scalar(group.until - from), sum.data(), power);
    if (from > Scalar{0}) {
      open.push_back({tree.left[group.split], group.first, group.split, from});
      open.push_back({tree.right[group.split], group.split, group.end, from});
      for (int child = 0; child < 2; ++child) sums.insert(sums.end(), sum.begin(), sum.end());
      continue;
    }
    for (std::size_t k = 0; k < rows; ++k)
      for (std::size_t i = group.first; i < group.end; ++i) slope[k][i] = sum[k];
  }
  return slope;
}

}  // namespace draftproof
