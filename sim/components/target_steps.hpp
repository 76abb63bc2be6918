// From weights and settings to a row of p, in the steps that engines get wrong one at a time: bias, penalty,
// temperature, min-p, top-k, mask, in this order. A source of rows is a struct of these steps; a wrong one replaces
// one of them. Symbols: sim/components/target_request.hpp.
//
// Cost: V counts over the text and a sort of V weights; rows are small here.
// Correctness: each step is the setting's definition; the row is normalised at the end.
// Source: the order is that of common engines.
#pragma once

#include <algorithm>
#include <cstddef>

#include <draftproof/sim/components/target_request.hpp>

namespace draftproof {

struct TargetSteps {
  /// The weight of x at position i. A batched pass may give other last bits than a single decode.
  int weight(const TargetRequest& request, int i, Token x) const {
    return request.weights[static_cast<std::size_t>(i)][static_cast<std::size_t>(x)];
  }
  int coldness(const TargetRequest& request) const { return request.coldness; }
  /// Whether bias, min-p and top-k are applied at position i.
  bool filtered(const TargetRequest&, int) const { return true; }
  /// Occurrences of x before position i.
  int count(const TargetRequest& request, const Token* drafts, int i, Token x) const {
    return static_cast<int>(std::count(request.committed.begin(), request.committed.end(), x) +
                            std::count(drafts, drafts + i, x));
  }
};

namespace target_row_detail {

template <class Scalar>
void keep_largest(std::vector<Scalar>& row, int k) {
  std::vector<std::size_t> order(row.size());
  for (std::size_t x = 0; x < row.size(); ++x) order[x] = x;
  std::stable_sort(order.begin(), order.end(), [&row](std::size_t a, std::size_t b) { return row[a] > row[b]; });
  for (std::size_t rank = static_cast<std::size_t>(k); rank < order.size(); ++rank) row[order[rank]] = Scalar{0};
}

}  // namespace target_row_detail

/// The row at position i of a chain whose first i drafts are `drafts`, [V]. All zero if the settings leave no token.
template <class Scalar, class Steps>
std::vector<Scalar> target_row(const Steps& steps, const TargetRequest& request, const Token* drafts, int i) {
  const auto size = static_cast<std::size_t>(request.vocabulary());
  const bool filtered = steps.filtered(request, i);
  std::vector<Scalar> row;
  for (std::size_t x = 0; x < size; ++x) {
    Scalar weight(steps.weight(request, i, static_cast<Token>(x)));
    if (filtered && !request.bias.empty()) weight *= Scalar(request.bias[x]);
    for (int c = steps.count(request, drafts, i, static_cast<Token>(x)); c > 0; --c)
      weight /= Scalar(request.penalty);
    row.push_back(weight);
  }
  if (const int coldness = steps.coldness(request); coldness == 0) {
    target_row_detail::keep_largest(row, 1);
  } else {
    for (Scalar& weight : row) {
      const Scalar base = weight;
      for (int n = 1; n < coldness; ++n) weight *= base;
    }
  }
  if (filtered && request.min_p_over > 0) {
    const Scalar largest = *std::max_element(row.begin(), row.end());
    for (Scalar& weight : row)
      if (weight * Scalar(request.min_p_over) < largest) weight = Scalar{0};
  }
  if (filtered && request.top_k > 0 && request.top_k < request.vocabulary())
    target_row_detail::keep_largest(row, request.top_k);
  Scalar total{0};
  for (std::size_t x = 0; x < size; ++x) {
    if (!request.masks.empty() && request.masks[static_cast<std::size_t>(i)][x] == 0) row[x] = Scalar{0};
    total += row[x];
  }
  if (total > Scalar{0})
    for (Scalar& weight : row) weight /= total;
  return row;
}

}  // namespace draftproof
