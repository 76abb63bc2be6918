// Target rows as an engine makes them from a request: the request, rows under a support mask, and the settings that
// remove tokens.
//
// The filters, which remove tokens from a row, are min-p, top-k, top-p and typical-p. By default they are chained: each
// filter reads the tokens that the filters before it kept. If `joint` is set, each filter reads the whole row, and a
// token stays if all filters keep it.
//
//   w        row          weights, not normalised
//   S        seen         the tokens that a filter reads
//   min-p    over         keeps x if w(x) * over >= max w
//   top-k    k            keeps the k heaviest of S
//   top-p    percent      keeps the heaviest of S, up to and including the token with which the kept tokens have
//                         `percent` per cent of the mass of S
//   typical  percent      as top-p, in ascending order of | log w(x) - m |, the distance of surprise from entropy; m
//                         is the mean of log w over S, weighted by mass
//
// Equal weights are in the order of their ids.
// Cost: one sort for each filter.
// Correctness: comparisons are made in the scalar of the row, except for the order of typical-p: m is irrational, so
// distances are computed in long double. Where a token with log w above m and a token with log w below m are equally
// far from m, rounding decides their order, as in engines.
// Source: top-p Holtzman et al. 2020, arXiv:1904.09751; typical-p Meister et al. 2022, arXiv:2202.00666; min-p Nguyen
// et al. 2024, arXiv:2407.01082.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <draftproof/sim/numeric/sums.hpp>
#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

// The input of a source of target rows: the model's weights at every position of a drafted chain, and the settings of
// one request. All values are integers, so rows in fractions can be compared with `==`.
//
//   w        weight       exp(logit / grain): the grain-th root of a token's weight before any setting; bias and
//                         penalty multiply and divide w
//   1/T      coldness     the exponent of w, which is the inverse temperature times grain: `grain` for temperature 1; 0
//                         for temperature 0, at which the most probable token is taken
//   c        count        occurrences of a token in the text before a position, committed and drafted
//   d        penalty      w is divided by d once for each occurrence

/// The implementations of target rows in an engine. All of them must give the same rows.
enum class TargetBackend { specialised, generic };

struct TargetRequest {
  std::vector<std::vector<int>> weights;  ///< L + 1 rows of V: at each draft position, then the bonus row
  std::vector<Token> committed;           ///< text before the first draft
  int coldness = 1, grain = 1;
  int top_k = 0;           ///< 0: off; among equal weights the lowest ids stay
  int min_p_over = 0;      ///< removes tokens below 1/min_p_over of the largest weight; 0: off
  int top_p = 0;           ///< per cent of the mass that the most probable tokens must have together; 0: off
  int typical_p = 0;       ///< per cent of the mass that the most typical tokens must have together; 0: off
  bool joint = false;      ///< every filter reads the whole row, not only the tokens that filters before it kept
  bool cold_last = false;  ///< filters read the row at temperature 1, and the temperature is applied after them
  std::vector<int> bias;   ///< factor for each token; empty: off
  int penalty = 1;
  std::vector<std::vector<int>> masks;  ///< L + 1 rows of 0 and 1; empty: off
  TargetBackend backend = TargetBackend::specialised;

  int vocabulary() const { return static_cast<int>(weights.front().size()); }
  int drafts() const { return static_cast<int>(weights.size()) - 1; }
  bool operator==(const TargetRequest&) const = default;
};

// Weights divided by their sum, in double: the input of tables of probabilities.
//
// Cost: two passes. The sum is compensated, so its error does not grow with V.

inline std::vector<double> normalised_row(std::span<const double> weights) {
  const double total = compensated_sum(weights);
  std::vector<double> row;
  row.reserve(weights.size());
  for (const double weight : weights) row.push_back(weight / total);
  return row;
}

// A row of target weights under its support mask, and the form in which weights are passed to a random source.
//
//   w      MaskedRow(x)     weight of token x, 0 where the mask is 0
//
// Cost: a pass for the total, another for a draw.
// Correctness: a draw divides by the total and then adds in fixed point, so the token depends on the row and the
// random bits only.

class MaskedRow {
 public:
  MaskedRow(const float* weights, const std::uint8_t* mask, int vocabulary)
      : weights_{weights}, mask_{mask}, vocabulary_{vocabulary} {}

  double operator()(Token x) const { return mask_ && mask_[x] == 0 ? 0.0 : static_cast<double>(weights_[x]); }

  /// Returns the sum of the weights. It is exact, in any order of the terms, if the weights are integers.
  double total() const {
    double total = 0;
    for (Token x = 0; x < vocabulary_; ++x) total += (*this)(x);
    return total;
  }
  /// Whether the row is a distribution up to a factor: no weight is negative, infinite or NaN, and their sum is
  /// positive.
  bool sound() const {
    for (Token x = 0; x < vocabulary_; ++x)
      if (!(weights_[x] >= 0) || std::isinf(weights_[x])) return false;
    return total() > 0;
  }

 private:
  const float* weights_;
  const std::uint8_t* mask_;
  int vocabulary_;
};

/// Non-negative weights of any scale over 0 .. size - 1.
template <class F>
class ScaledWeights {
 public:
  ScaledWeights(int size, F f) : size_{size}, f_{f} {}

  Token draw(std::uint64_t word) const {
    double total = 0;
    for (Token x = 0; x < size_; ++x) total += f_(x);
    const auto share = [this, total](Token x) { return f_(x) / total; };
    return FixedWeights(size_, share).draw(word);
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (Token x = 0; x < size_; ++x)
      if (const double weight = f_(x); weight > 0) visit(x, weight);
  }

 private:
  int size_;
  F f_;
};

/// The distance of a token's surprise, -log of its probability, from the entropy of a set; typical-p orders tokens by
/// this distance.
class TypicalDistance {
 public:
  /// `weights` are the weights of the set's tokens, up to a factor.
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

  /// Starts with all tokens of positive weight.
  TargetFilters(const std::vector<Scalar>& row, bool joint) : row_{&row}, joint_{joint} {
    for (const Scalar& weight : row) all_.push_back(weight > Scalar{0});
    kept_ = all_;
  }

  const Kept& kept() const { return kept_; }
  /// Removes the tokens that are not in `others`.
  void keep(const Kept& others) {
    for (std::size_t x = 0; x < kept_.size(); ++x) kept_[x] = kept_[x] && others[x];
  }

  void min_p(int over) {
    const Scalar largest = *std::max_element(row_->begin(), row_->end());
    for (std::size_t x = 0; x < row_->size(); ++x)
      if ((*row_)[x] * Scalar(over) < largest) kept_[x] = false;
  }
  void top_k(int k) {
    const auto order = heaviest_first(seen());
    for (std::size_t rank = static_cast<std::size_t>(k); rank < order.size(); ++rank) kept_[order[rank]] = false;
  }
  /// `crossing`: whether the token that reaches the share is kept.
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
  /// Keeps the first tokens of `order` until they have `percent` per cent of the mass of all tokens in `order`.
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
