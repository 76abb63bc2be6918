// The last step of shrinking. Greedy descent lowers one weight at a time and can end at large weights; an enumeration
// of all instances of the same shape with the smallest weights often finds a readable one.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

namespace draftproof {

/// An instance with weights up to this is readable and is left as it is.
inline constexpr int legible_weight = 5;

/// All valid instances of the shape of `origin` with weights of at most 2, or at most 1 if those would be more than
/// `limit`, sorted by total weight. Empty if the weights of `origin` are readable, or if even 1 gives too many.
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
