// A mixture of a ladder and of orders of the bins for drafts from different proposals: with probability w_j the draft
// of the best rank in order j is selected, with the rest the ladder decides.
//
//   w_j       weight of alternative j, a multiple of 2^-20; alternative 0 is the ladder
//   v_j       mass that alternative j gives each bin
//   slope     slopes(..)[k][i]: sum over j of w_j Pr(draft k is x and selected by j) / q_k(x), x in bin i
//
// For any draft law the laws of selected drafts are mixtures of those of orders, so the best law is one of them. The
// search adds the order of p_I / p ascending, in which bins that got least come first, and then moves the weights: the
// step w_j *= sum of p v_j / p_I never lowers the sum of p log p_I, whose greatest value also has the greatest
// acceptance (docs/ladder.md). Of all mixtures on the way that with the highest acceptance is kept.
// Cost: for each order a sort of n bins, K slopes a bin, and some 15 passes over the bins for each law so far.
// Acceptance: never below the ladder's.
// Correctness: the slopes are those of the weights and orders as they are, whatever they are. The search runs on bins
// in their order, so relabelling tokens changes nothing.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <draftproof/sim/device/host_device.hpp>
#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/verifiers/ladder/level_sweep.hpp>

namespace draftproof {

// Range maxima of small integers: O(1) a range after O(n log n), or by a linear scan if few ranges will be asked for.
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
  /// Only if made for many ranges.
  RangeSearch search() const { return {rows_.data(), size_}; }
  const std::vector<std::uint32_t>& rows() const { return rows_; }

 private:
  std::size_t size_ = 0;
  bool many_ = false;
  std::vector<std::uint32_t> rows_;
};

/// Orders of bins and their weights; without any the ladder always decides.
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

  /// The alternative that decides: 0 is the ladder, j > 0 order j - 1.
  template <class R>
  int draw(R& random) const {
    if (weight_.empty()) return 0;
    return random.pick(FunctionWeights{static_cast<int>(weight_.size()),
                                       [this](Token j) { return weight_[static_cast<std::size_t>(j)]; }});
  }
  /// Rank of a bin for alternative j > 0.
  std::size_t rank(int j, int bin) const {
    return rank_[static_cast<std::size_t>(j) - 1][static_cast<std::size_t>(bin)];
  }
  /// Slopes of the mixture for proposals with these masses in the bins; `slope` is the ladder's.
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

  /// Slopes of the selection that takes the draft of the best rank, uniformly among those of its bin.
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
  std::vector<std::vector<std::size_t>> bins_, rank_;  ///< by rank, and by bin
  std::vector<int> weight_;                            ///< in units of 1 / unit
};

namespace detail {

/// The search. Its numbers are doubles in any scalar: they choose orders and weights, and any choice is lossless.
class OrderSearch {
 public:
  /// Masses of the target in the bins, and of the ladder's selected draft.
  OrderSearch(std::vector<double> target, std::vector<double> ladder)
      : target_{std::move(target)}, laws_{std::move(ladder)}, weight_{1}, mixed_{laws_.front()} {}

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
  /// Adds the law of an order, with the best of few weights, and moves all weights.
  void add(std::vector<double> law) {
    double best = -1, share = 0;
    for (double tried = 0.5; tried > 1e-3; tried /= 2)
      if (const double sum = accepted(law, tried); sum > best) best = sum, share = tried;
    for (double& weight : weight_) weight *= 1 - share;
    weight_.push_back(share);
    laws_.push_back(std::move(law));
    mix();
    for (int step = 0; step < steps; ++step) {
      double total = 0;
      for (std::size_t j = 0; j < laws_.size(); ++j) {
        double served = 0;
        for (std::size_t i = 0; i < mixed_.size(); ++i)
          if (mixed_[i] > 0) served += target_[i] * laws_[j][i] / mixed_[i];
        total += weight_[j] *= served;
      }
      for (double& weight : weight_) weight /= total;
      mix();
    }
  }
  /// Acceptance of the mixture.
  double accepted() const { return accepted(mixed_, 0); }
  /// The weights in units; they add up to Orders::unit.
  std::vector<int> weights() const {
    std::vector<int> units;
    int others = 0;
    for (std::size_t j = 1; j < weight_.size(); ++j)
      others += units.emplace_back(static_cast<int>(weight_[j] * Orders::unit));
    units.insert(units.begin(), Orders::unit - others);
    return units;
  }

 private:
  static constexpr int steps = 5;  ///< chosen by measurement: more gain less than another order

  double accepted(const std::vector<double>& law, double share) const {
    double sum = 0;
    for (std::size_t i = 0; i < mixed_.size(); ++i)
      sum += std::min(mixed_[i] + share * (law[i] - mixed_[i]), target_[i]);
    return sum;
  }
  void mix() {
    std::fill(mixed_.begin(), mixed_.end(), 0.0);
    for (std::size_t j = 0; j < laws_.size(); ++j)
      for (std::size_t i = 0; i < mixed_.size(); ++i) mixed_[i] += weight_[j] * laws_[j][i];
  }

  std::vector<double> target_;
  std::vector<std::vector<double>> laws_;
  std::vector<double> weight_, mixed_;
};

}  // namespace detail

/// At most `most` orders for these masses of target and proposals in the bins; `slope` is the ladder's.
template <class Scalar>
Orders search_orders(const std::vector<Scalar>& target, const ProposalRows<Scalar>& own,
                     const ProposalRows<Scalar>& slope, int drafts, int most) {
  const auto law = [&](const ProposalRows<Scalar>& of) {
    std::vector<double> sums(target.size(), 0.0);
    for (int k = 0; k < drafts; ++k) {
      const auto row = std::min(static_cast<std::size_t>(k), own.size() - 1);
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<double>(Scalar(own[row][i] * of[row][i]));
    }
    return sums;
  };
  std::vector<double> wanted;
  for (const Scalar& mass : target) wanted.push_back(static_cast<double>(mass));
  detail::OrderSearch search(std::move(wanted), law(slope));
  std::vector<std::vector<std::size_t>> orders;
  // Above what rounding the weights can lose, 2^-20 for each order.
  constexpr double least_gain = 0x1p-16;
  double best = search.accepted();
  std::vector<int> weight{Orders::unit};
  for (int j = 0; j < most; ++j) {
    orders.push_back(search.next_order());
    search.add(law(Orders::order_slopes(own, orders.back(), drafts)));
    if (search.accepted() > best + least_gain) {
      best = search.accepted();
      weight = search.weights();
    }
  }
  orders.resize(weight.size() - 1);
  return {std::move(orders), std::move(weight)};
}

}  // namespace draftproof
