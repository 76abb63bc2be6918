// The last step of shrinking: greedy descent lowers one weight at a time and can end on a slope of large ones; among
// all instances of the same shape with the smallest weights there is often one to check by hand.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

namespace draftproof {

/// Weights a person reads at a glance; an instance within them is left as it is.
inline constexpr int legible_weight = 5;

/// All instances of the shape of `origin` with weights of at most 2, or 1 where that would be more than `limit`,
/// lightest first. None if its own weights are legible, or if even 1 is too much.
template <class Instance>
std::vector<Instance> of_small_weights(const Instance& origin, std::size_t limit = 1000) {
  Instance copy = origin;
  std::vector<int*> cells;
  int heaviest = 0;
  for (auto* row : rows_of(copy))
    for (int& weight : *row) {
      heaviest = std::max(heaviest, weight);
      cells.push_back(&weight);
    }
  if (heaviest <= legible_weight) return {};
  const auto count = [&cells](std::size_t base) {
    std::size_t total = 1;
    for (std::size_t i = 0; i < cells.size() && total <= 1'000'000; ++i) total *= base;
    return total;
  };
  const int most = count(3) <= limit ? 2 : 1;
  if (count(static_cast<std::size_t>(most) + 1) > limit) return {};
  for (int* cell : cells) *cell = 0;
  std::vector<std::pair<int, Instance>> found;
  for (std::size_t i = 0; i < cells.size();) {
    if (copy.valid())
      found.emplace_back(
          std::accumulate(cells.begin(), cells.end(), 0, [](int sum, const int* w) { return sum + *w; }), copy);
    for (i = 0; i < cells.size() && ++*cells[i] > most; ++i) *cells[i] = 0;
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Instance> instances;
  for (auto& [weight, instance] : found) instances.push_back(std::move(instance));
  return instances;
}

}  // namespace draftproof
