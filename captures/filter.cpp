#include <draftproof/captures/filter.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/captures/array.hpp>
#include <draftproof/captures/row.hpp>
#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof {
namespace {

std::vector<double> one_hot(std::span<const double> values) {
  std::vector<double> distribution(values.size(), 0.0);
  distribution[static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin())] = 1;
  return distribution;
}

/// Zeroes the `weights` that top-k, top-p and min-p remove, and normalises. It ranks by `values`, of which the weights
/// are a monotone function, so that rounding of the weights neither creates nor moves ties.
std::vector<double> cut(std::span<const double> values, std::vector<double> weights, const Filter& filter) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto before = [values](std::size_t a, std::size_t b) {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  };
  std::size_t kept = order.size();
  if (filter.top_k > 0 && filter.top_k < kept) {
    kept = filter.top_k;
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(), before);
  }
  if (filter.top_p < 1) {
    std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), before);
    std::vector<double> descending(kept);
    std::transform(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), descending.begin(),
                   [&weights](std::size_t token) { return weights[token]; });
    const double wanted = filter.top_p * compensated_sum(descending);
    double mass = 0;
    std::size_t run = 0;
    while (run < kept && mass < wanted) mass += descending[run++];
    kept = run;
  }
  for (std::size_t i = kept; i < order.size(); ++i) weights[order[i]] = 0;
  const double least = filter.min_p * *std::max_element(weights.begin(), weights.end());
  for (double& weight : weights)
    if (weight < least) weight = 0;
  normalise(weights);
  return weights;
}

}  // namespace

void check_filter(const Filter& filter, const std::string& who) {
  if (!(std::isfinite(filter.temperature) && filter.temperature >= 0))
    throw file_error(who, fmt::format("temperature {}", filter.temperature), "a finite temperature >= 0");
  if (!(filter.top_p > 0 && filter.top_p <= 1))
    throw file_error(who, fmt::format("top-p {}", filter.top_p), "0 < top-p <= 1");
  if (!(filter.min_p >= 0 && filter.min_p <= 1))
    throw file_error(who, fmt::format("min-p {}", filter.min_p), "0 <= min-p <= 1");
}

nlohmann::json to_json(const Filter& filter) {
  nlohmann::json json{{"temperature", filter.temperature}, {"top_k", filter.top_k}, {"top_p", filter.top_p}};
  if (filter.min_p > 0) json["min_p"] = filter.min_p;
  return json;
}

std::string to_text(const Filter& filter) {
  const Filter unchanged;
  std::vector<std::string> texts;
  if (filter.temperature != unchanged.temperature)
    texts.push_back(fmt::format("temperature {:g}", filter.temperature));
  if (filter.top_k != unchanged.top_k) texts.push_back(fmt::format("top_k {}", filter.top_k));
  if (filter.top_p != unchanged.top_p) texts.push_back(fmt::format("top_p {:g}", filter.top_p));
  if (filter.min_p != unchanged.min_p) texts.push_back(fmt::format("min_p {:g}", filter.min_p));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::vector<double> filtered_softmax(std::span<const double> logits, const Filter& filter) {
  if (filter.temperature == 0) return one_hot(logits);
  const double largest = *std::max_element(logits.begin(), logits.end());
  assert(std::isfinite(largest));
  std::vector<double> weights(logits.size());
  // Subtracts before dividing, because with a tiny temperature the quotients could overflow to inf - inf.
  for (std::size_t i = 0; i < logits.size(); ++i) weights[i] = std::exp((logits[i] - largest) / filter.temperature);
  return cut(logits, std::move(weights), filter);
}

std::vector<double> filtered_distribution(std::vector<double> distribution, const Filter& filter) {
  if (filter.changes_nothing()) return distribution;
  if (filter.temperature == 0) return one_hot(distribution);
  std::vector<double> weights = distribution;
  if (filter.temperature != 1) {
    const double largest = *std::max_element(distribution.begin(), distribution.end());
    for (double& weight : weights) weight = std::pow(weight / largest, 1 / filter.temperature);
  }
  return cut(distribution, std::move(weights), filter);
}

}  // namespace draftproof
