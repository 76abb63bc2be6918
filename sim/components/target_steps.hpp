// Makes a row of p from weights and settings, in the steps in which engines have bugs: bias, penalty, temperature,
// min-p, top-k, top-p, typical-p, mask, in this order unless the request sets `cold_last`, which applies the
// temperature after the filters. A source of rows is a struct of these steps; a mutant replaces one of the steps. The
// symbols are described in sim/components/target_filters.hpp.
//
// Cost: V counts over the text and a sort of V weights; V is small in tests.
// Correctness: each step is the setting's definition; the row is normalised at the end.
// Source: the order of settings in common engines.
#pragma once

#include <algorithm>
#include <cstddef>

#include <draftproof/sim/components/target_filters.hpp>

namespace draftproof {

struct TargetSteps {
  /// Returns the model's weight of x at position i. A source may replace this step, because an engine's pass over
  /// several positions may differ in the last bits from decoding one token.
  int weight(const TargetRequest& request, int i, Token x) const {
    return request.weights[static_cast<std::size_t>(i)][static_cast<std::size_t>(x)];
  }
  int coldness(const TargetRequest& request) const { return request.coldness; }
  bool joint(const TargetRequest& request) const { return request.joint; }
  bool cold_last(const TargetRequest& request) const { return request.cold_last; }
  /// Applies the filters in their order.
  template <class Scalar>
  void filter(const TargetRequest& request, TargetFilters<Scalar>& filters) const {
    if (request.min_p_over > 0) filters.min_p(request.min_p_over);
    if (request.top_k > 0) filters.top_k(request.top_k);
    if (request.top_p > 0) filters.top_p(request.top_p);
    if (request.typical_p > 0) filters.typical_p(request.typical_p);
  }
  /// Whether bias and filters are applied at position i.
  bool filtered(const TargetRequest&, int) const { return true; }
  /// Returns the number of occurrences of x before position i.
  int count(const TargetRequest& request, const Token* drafts, int i, Token x) const {
    return static_cast<int>(std::count(request.committed.begin(), request.committed.end(), x) +
                            std::count(drafts, drafts + i, x));
  }
};

namespace target_row_detail {

/// Returns the row with entries raised to the power `coldness`; at 0 only the first of the greatest entries stays.
template <class Scalar>
std::vector<Scalar> at_temperature(std::vector<Scalar> row, int coldness) {
  if (coldness == 0) {
    const auto top = std::max_element(row.begin(), row.end()) - row.begin();
    for (std::ptrdiff_t x = 0; x < std::ssize(row); ++x)
      if (x != top) row[static_cast<std::size_t>(x)] = Scalar{0};
    return row;
  }
  for (Scalar& weight : row) {
    const Scalar root = weight;
    for (int n = 1; n < coldness; ++n) weight *= root;
  }
  return row;
}

}  // namespace target_row_detail

/// Returns the row at position i of a chain whose first i drafts are at `drafts`, [V]; all 0 if no token is left.
template <class Scalar, class Steps>
std::vector<Scalar> target_row(const Steps& steps, const TargetRequest& request, const Token* drafts, int i) {
  const auto size = static_cast<std::size_t>(request.vocabulary());
  const bool filtered = steps.filtered(request, i), cold_last = steps.cold_last(request);
  std::vector<Scalar> roots;
  for (std::size_t x = 0; x < size; ++x) {
    Scalar weight(steps.weight(request, i, static_cast<Token>(x)));
    if (filtered && !request.bias.empty()) weight *= Scalar(request.bias[x]);
    for (int c = steps.count(request, drafts, i, static_cast<Token>(x)); c > 0; --c)
      weight /= Scalar(request.penalty);
    roots.push_back(weight);
  }
  const int coldness = steps.coldness(request);
  const std::vector<Scalar> seen = target_row_detail::at_temperature(roots, cold_last ? request.grain : coldness);
  TargetFilters<Scalar> filters(seen, steps.joint(request));
  if (filtered) steps.filter(request, filters);
  for (std::size_t x = 0; x < size; ++x)
    if (!filters.kept()[x]) roots[x] = Scalar{0};
  std::vector<Scalar> row = target_row_detail::at_temperature(std::move(roots), coldness);
  Scalar total{0};
  for (std::size_t x = 0; x < size; ++x) {
    if (!request.masks.empty() && request.masks[static_cast<std::size_t>(i)][x] == 0) row[x] = Scalar{0};
    total += row[x];
  }
  if (total > Scalar{0})
    for (Scalar& weight : row) weight /= total;
  return row;
}

/// The base of a source of rows. `Source` is the derived struct, which may replace steps; row() runs the steps of
/// `Source`.
template <class Source>
struct TargetRows : TargetSteps {
  template <class Scalar>
  std::vector<Scalar> row(const TargetRequest& request, const Token* drafts, int i) const {
    return draftproof::target_row<Scalar>(static_cast<const Source&>(*this), request, drafts, i);
  }
};

}  // namespace draftproof
