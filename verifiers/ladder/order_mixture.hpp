// The distribution of the selected draft if drafts have different proposals. group_slopes computes it for a selection
// by groups and levels. Orders is a mixture of the ladder and of orders of the bins: with probability w_j the draft of
// the best rank in order j is selected, and with the remaining probability the ladder selects.
//
//   w_j       weight of alternative j, a multiple of 2^-20; alternative 0 is the ladder
//   v_j       mass that alternative j gives each bin
//   slope     slopes(..)[k][i]: sum over j of w_j Pr(draft k is x and selected by j) / q_k(x), x in bin i
//
// For any draft sampling every distribution of a selected draft is a mixture of distributions of orders, so the best
// distribution is such a mixture. The search adds the order of p_I / p ascending, so that the bins with the least mass
// relative to p come first, and then moves the weights: the step w_j *= sum of p v_j / p_I never lowers the sum of
// p log p_I, whose greatest value also has the greatest acceptance (docs/ladder.md). It keeps the mixture with the
// highest acceptance.
// Cost: for each order a sort of n bins, K slopes per bin, and some 15 passes over the bins for each distribution so
// far. Acceptance: never below the ladder's.
// Correctness: the slopes are computed from the weights and orders in use, so the scheme is lossless for any of them.
// The search runs on bins in their order, so relabelling tokens changes nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <draftproof/sim/sampling/weights.hpp>

namespace draftproof {

// The distribution of a selection by groups and levels where every draft has a different proposal: the mean, over
// the uniform of the levels, of the K slopes of the group that contains a bin.
//
//   below[k][i]   mass of proposal k in bins i .. n - 1; entry n is 0
//   Z_k, G_k      below[k][b], below[k][a] - below[k][b]     masses below the group a .. b - 1 and in it
//   A_k           integral over t in [0, 1] of the product over l != k of Z_l + G_l t
//   slope[k][i]   mean of A_k over the groups that hold bin i: Pr(draft k is x and is selected) / q_k(x)
//
// Draft k is selected if it is in the group, no other draft is above the group, and the uniform choice among the
// drafts in the group takes it: with probability 1 / (n + 1), the integral of t^n, if n other drafts are in the group.
// With fewer rows than drafts the last row stands for all further drafts.
// Cost: n groups at least and 2 n at most, K^2 per row and group.
// Correctness: docs/ladder.md, "Different proposals". A group stands while u is at least every level inside it and
// below the levels at its two ends, so groups are the nodes of the tree of greatest levels.

template <class Scalar>
using ProposalRows = std::vector<std::vector<Scalar>>;

/// Returns below[k][i], from own[k][i], the mass of proposal k in bin i.
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

/// Adds share * A_k to sum[k] for the group a .. b - 1; `power` is scratch memory.
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

/// A Cartesian tree of the breaks by level: the children of a break have the greatest levels on its two sides.
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
    std::size_t split, first, end;  ///< break of the greatest level inside, or 0; range of bins
    Scalar until;                   ///< the group stands while u is below this
  };
  std::vector<Group> open{{tree.root, 0, bins, Scalar{1}}};
  // For each open group the sum of A_k over the groups that contain it, weighted with their shares of u.
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

/// Orders of bins and their weights. Without orders the ladder always decides.
class Orders {
 public:
  static constexpr int unit = 1 << 20;

  Orders() = default;
  Orders(std::vector<std::vector<std::size_t>> bins, std::vector<int> weight)
      : bins_{std::move(bins)}, weight_{std::move(weight)} {
    for (const auto& order : bins_) {
      auto& rank = rank_.emplace_back(order.size());
      for (std::size_t r = 0; r < order.size(); ++r) rank[order[r]] = r;
    }
  }

  /// Draws the alternative that decides: 0 is the ladder, j > 0 order j - 1.
  template <class R>
  int draw(R& random) const {
    if (weight_.empty()) return 0;
    return random.pick(FunctionWeights{static_cast<int>(weight_.size()),
                                       [this](Token j) { return weight_[static_cast<std::size_t>(j)]; }});
  }
  /// Rank of a bin in the order of alternative j > 0.
  std::size_t rank(int j, int bin) const {
    return rank_[static_cast<std::size_t>(j) - 1][static_cast<std::size_t>(bin)];
  }
  /// Slopes of the mixture. `own`: masses of each proposal in the bins; `slope`: slopes of the ladder alone.
  template <class Scalar>
  ProposalRows<Scalar> slopes(const ProposalRows<Scalar>& own, ProposalRows<Scalar> slope, int drafts) const {
    if (weight_.empty()) return slope;
    const auto share = [this](std::size_t j) { return Scalar(weight_[j]) / Scalar(int{unit}); };
    for (auto& row : slope)
      for (Scalar& entry : row) entry *= share(0);
    for (std::size_t j = 0; j < bins_.size(); ++j) {
      if (weight_[j + 1] == 0) continue;
      const auto more = order_slopes(own, bins_[j], drafts);
      for (std::size_t k = 0; k < slope.size(); ++k)
        for (std::size_t i = 0; i < slope[k].size(); ++i) slope[k][i] += share(j + 1) * more[k][i];
    }
    return slope;
  }

  /// Slopes of the selection that takes the draft of the best rank, uniformly among the drafts in its bin.
  template <class Scalar>
  static ProposalRows<Scalar> order_slopes(const ProposalRows<Scalar>& own, const std::vector<std::size_t>& order,
                                           int drafts) {
    ProposalRows<Scalar> ranked = own;
    for (std::size_t k = 0; k < own.size(); ++k)
      for (std::size_t r = 0; r < order.size(); ++r) ranked[k][r] = own[k][order[r]];
    const auto below = sums_below(ranked);
    std::vector<Scalar> sum, power;
    for (std::size_t r = 0; r < order.size(); ++r) {
      sum.assign(own.size(), Scalar{0});
      detail::add_group_slopes(below, drafts, r, r + 1, Scalar{1}, sum.data(), power);
      for (std::size_t k = 0; k < own.size(); ++k) ranked[k][order[r]] = sum[k];
    }
    return ranked;
  }

 private:
  std::vector<std::vector<std::size_t>> bins_, rank_;  ///< bins_[j] by rank, rank_[j] by bin
  std::vector<int> weight_;                            ///< in units of 1 / unit
};

namespace detail {

/// Searches for orders and weights. It computes in double for every scalar, because any choice of orders and weights
/// is lossless.
class OrderSearch {
 public:
  /// `target`, `ladder`: masses of the target and of the ladder's selected draft in the bins.
  OrderSearch(std::vector<double> target, std::vector<double> ladder)
      : target_{std::move(target)}, distributions_{std::move(ladder)}, weight_{1}, mixed_{distributions_.front()} {}

  /// Bins by p_I / p ascending; ties in the order of the bins.
  std::vector<std::size_t> next_order() const {
    std::vector<std::size_t> order(target_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<double> key;
    for (std::size_t i = 0; i < target_.size(); ++i)
      key.push_back(target_[i] > 0 ? mixed_[i] / target_[i] : std::numeric_limits<double>::infinity());
    std::stable_sort(order.begin(), order.end(), [&key](std::size_t a, std::size_t b) { return key[a] < key[b]; });
    return order;
  }
  /// Adds the distribution of an order, with the best of nine weights, then moves all weights.
  void add(std::vector<double> distribution) {
    double best = -1, share = 0;
    for (double tried = 0.5; tried > 1e-3; tried /= 2)
      if (const double sum = accepted(distribution, tried); sum > best) best = sum, share = tried;
    for (double& weight : weight_) weight *= 1 - share;
    weight_.push_back(share);
    distributions_.push_back(std::move(distribution));
    mix();
    for (int step = 0; step < steps; ++step) {
      double total = 0;
      for (std::size_t j = 0; j < distributions_.size(); ++j) {
        double served = 0;
        for (std::size_t i = 0; i < mixed_.size(); ++i)
          if (mixed_[i] > 0) served += target_[i] * distributions_[j][i] / mixed_[i];
        total += weight_[j] *= served;
      }
      for (double& weight : weight_) weight /= total;
      mix();
    }
  }
  /// Acceptance of the mixture.
  double accepted() const { return accepted(mixed_, 0); }
  /// The weights as multiples of 1 / Orders::unit; the multiples add up to Orders::unit.
  std::vector<int> weights() const {
    std::vector<int> units;
    int others = 0;
    for (std::size_t j = 1; j < weight_.size(); ++j)
      others += units.emplace_back(static_cast<int>(weight_[j] * Orders::unit));
    units.insert(units.begin(), Orders::unit - others);
    return units;
  }

 private:
  /// Number of updates of the weights after each order. In measurements, further updates gained less than another
  /// order.
  static constexpr int steps = 5;

  double accepted(const std::vector<double>& distribution, double share) const {
    double sum = 0;
    for (std::size_t i = 0; i < mixed_.size(); ++i)
      sum += std::min(mixed_[i] + share * (distribution[i] - mixed_[i]), target_[i]);
    return sum;
  }
  void mix() {
    std::fill(mixed_.begin(), mixed_.end(), 0.0);
    for (std::size_t j = 0; j < distributions_.size(); ++j)
      for (std::size_t i = 0; i < mixed_.size(); ++i) mixed_[i] += weight_[j] * distributions_[j][i];
  }

  std::vector<double> target_;
  std::vector<std::vector<double>> distributions_;
  std::vector<double> weight_, mixed_;
};

}  // namespace detail

/// Returns at most `most` orders of the bins with their weights, as OrderSearch finds them. `target`, `own`: masses of
/// the target and of each proposal in the bins; `slope`: slopes of the ladder without orders.
template <class Scalar>
Orders search_orders(const std::vector<Scalar>& target, const ProposalRows<Scalar>& own,
                     const ProposalRows<Scalar>& slope, int drafts, int most) {
  const auto distribution = [&](const ProposalRows<Scalar>& of) {
    std::vector<double> sums(target.size(), 0.0);
    for (int k = 0; k < drafts; ++k) {
      const auto row = std::min(static_cast<std::size_t>(k), own.size() - 1);
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<double>(Scalar(own[row][i] * of[row][i]));
    }
    return sums;
  };
  std::vector<double> wanted;
  for (const Scalar& mass : target) wanted.push_back(static_cast<double>(mass));
  detail::OrderSearch search(std::move(wanted), distribution(slope));
  std::vector<std::vector<std::size_t>> orders;
  // The least gain in acceptance for which a mixture is kept. It exceeds the loss from rounding the weights, 2^-20
  // for each order.
  constexpr double least_gain = 0x1p-16;
  double best = search.accepted();
  std::vector<int> weight{Orders::unit};
  for (int j = 0; j < most; ++j) {
    orders.push_back(search.next_order());
    search.add(distribution(Orders::order_slopes(own, orders.back(), drafts)));
    if (search.accepted() > best + least_gain) {
      best = search.accepted();
      weight = search.weights();
    }
  }
  orders.resize(weight.size() - 1);
  return {std::move(orders), std::move(weight)};
}

}  // namespace draftproof
