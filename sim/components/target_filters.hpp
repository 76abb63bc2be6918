// The settings that remove tokens from a row: min-p, top-k, top-p, typical-p. In a chain each sees what those before
// it kept; jointly each sees the whole row, and a token stays that all of them keep.
//
//   w        row          weights, not normalised
//   S        seen         the tokens that a filter sees
//   min-p    over         keeps w(x) over >= max w
//   top-k    k            keeps the k heaviest of S
//   top-p    percent      keeps the heaviest of S until they have that share of its mass, the token that reaches it included
//   typical  percent      the same in the order of | log w(x) - mean log w |, the mean by mass over S: surprise beside entropy
//
// Equal weights are in the order of their ids.
// Cost: a sort a filter.
// Correctness: all is in the scalar of the row, but for the order of typical-p: a token heavier than the mean and one
// lighter are compared by logarithms in long double, because the mean is irrational. A tie of such two is decided by
// rounding, as in engines.
// Source: top-p Holtzman et al. 2020, arXiv:1904.09751; typical-p Meister et al. 2022, arXiv:2202.00666; min-p Nguyen
// et al. 2024, arXiv:2407.01082.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <draftproof/sim/token.hpp>

namespace draftproof {

/// Distance of a token's surprise from the entropy of a set, for the order of typical-p.
class TypicalDistance {
 public:
  /// `weights` of the set, at any scale.
  explicit TypicalDistance(const std::vector<long double>& weights) {
    long double total = 0;
    for (const long double weight : weights) total += weight;
    for (const long double weight : weights)
      if (weight > 0) mean_ += weight / total * std::log(weight);
  }
  long double of(long double weight) const { return std::fabs(std::log(weight) - mean_); }

 private:
  long double mean_ = 0;
};

template <class Scalar>
class TargetFilters {
 public:
  using Kept = std::vector<bool>;

  /// All tokens of positive weight are kept so far.
  TargetFilters(const std::vector<Scalar>& row, bool joint) : row_{&row}, joint_{joint} {
    for (const Scalar& weight : row) all_.push_back(weight > Scalar{0});
    kept_ = all_;
  }

  const Kept& kept() const { return kept_; }

  void min_p(int over) {
    const Scalar largest = *std::max_element(row_->begin(), row_->end());
    for (std::size_t x = 0; x < row_->size(); ++x)
      if ((*row_)[x] * Scalar(over) < largest) kept_[x] = false;
  }
  void top_k(int k) {
    const auto order = heaviest_first(seen());
    for (std::size_t rank = static_cast<std::size_t>(k); rank < order.size(); ++rank) kept_[order[rank]] = false;
  }
  /// `crossing`: whether the token stays that reaches the share.
  void top_p(int percent, bool crossing = true) { keep_share(heaviest_first(seen()), percent, crossing); }
  void typical_p(int percent) {
    std::vector<std::size_t> order = heaviest_first(seen());
    if (order.empty()) return;
    std::vector<long double> shares(row_->size()), listed;
    for (const std::size_t x : order) {
      shares[x] = static_cast<double>(Scalar((*row_)[x] / (*row_)[order.front()]));
      listed.push_back(shares[x]);
    }
    const TypicalDistance distance(listed);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return distance.of(shares[a]) < distance.of(shares[b]); });
    keep_share(order, percent, true);
  }

 private:
  const Kept& seen() const { return joint_ ? all_ : kept_; }

  std::vector<std::size_t> heaviest_first(const Kept& seen) const {
    std::vector<std::size_t> order;
    for (std::size_t x = 0; x < row_->size(); ++x)
      if (seen[x]) order.push_back(x);
    std::stable_sort(order.begin(), order.end(),
                     [this](std::size_t a, std::size_t b) { return (*row_)[a] > (*row_)[b]; });
    return order;
  }
  /// Keeps the first tokens of the order until they have `percent` of its mass.
  void keep_share(const std::vector<std::size_t>& order, int percent, bool crossing) {
    Scalar total{0}, before{0};
    for (const std::size_t x : order) total += (*row_)[x];
    for (const std::size_t x : order) {
      const Scalar reached = before + (*row_)[x];
      if (!((crossing ? before : reached) * Scalar(100) < total * Scalar(percent))) kept_[x] = false;
      before = reached;
    }
  }

  const std::vector<Scalar>* row_;
  bool joint_;
  Kept all_{}, kept_{};
};

}  // namespace draftproof
