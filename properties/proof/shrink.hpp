// The search for a smaller model with the same failure, used by proofs, checks of components, gates of external
// verifiers and studies.
//
//   Model        an instance or a case: text(), ==, and shrinks(model), which lists the models that are one step
//                smaller, most drastic first
//   shows(m)     whether m has the failure that the search started from: the same property of the same subject
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace draftproof {

// The last step of shrinking. Greedy descent lowers one weight at a time and may stop at large weights;
// enumerating all models of the same shape with the smallest weights often finds a readable model.

/// Largest weight of a model that is easy to read. of_small_weights() returns no replacement for such a model.
inline constexpr int legible_weight = 5;

/// Returns all valid models of the shape of `origin` with weights up to 2, sorted by total weight. If there are more
/// than `limit`, returns the models with weights up to 1. The result is empty if no weight of `origin` exceeds
/// legible_weight, or if even the models with weights up to 1 are more than `limit`.
template <class Model>
std::vector<Model> of_small_weights(const Model& origin, std::size_t limit = 1000) {
  Model copy = origin;
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
  std::vector<std::pair<int, Model>> found;
  for (std::size_t i = 0; i < cells.size();) {
    if (copy.valid())
      found.emplace_back(
          std::accumulate(cells.begin(), cells.end(), 0, [](int sum, const int* w) { return sum + *w; }), copy);
    for (i = 0; i < cells.size() && ++*cells[i] > most; ++i) *cells[i] = 0;
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Model> models;
  for (auto& [weight, model] : found) models.push_back(std::move(model));
  return models;
}

// The search.

struct ShrinkOptions {
  /// Selects the shrinking step that is tried first after a step that kept the failure. `same_step` saves calls of slow
  /// programs: it skips the more drastic steps, because the failure was lost when they were tried on the larger model
  /// just before.
  enum class Next { most_drastic, same_step } next = Next::most_drastic;
  bool small_weights = false;  ///< whether the search ends with of_small_weights()
  std::size_t most = 20'000;   ///< largest number of models tried, so that the search also ends with a slow program
  std::function<bool()> stopped{};  ///< called before each model: whether to end the search
};

template <class Model>
struct Shrunk {
  Model smallest;
  std::size_t asked = 0;  ///< number of models tried
  bool cut = false;       ///< whether the search ended before every smaller model was tried

  /// Returns a remark for the evidence if the search was cut, else "".
  std::string note() const { return cut ? fmt::format("; shrinking was cut after {} smaller models", asked) : ""; }
};

/// Returns a model that has the failure, and of which no model one step smaller has the failure, unless the search was
/// cut. Starts from `model`, which has the failure, and tries no model twice.
template <class Model, class Shows>
Shrunk<Model> shrink(Model model, const ShrinkOptions& options, Shows shows) {
  Shrunk<Model> result{std::move(model)};
  std::set<std::string> known;
  const auto cut = [&] {
    return result.cut = result.asked >= options.most || (options.stopped && options.stopped());
  };
  const auto shown_by = [&](Model& candidate) {
    if (!known.insert(candidate.text()).second) return false;
    ++result.asked;
    if (!shows(std::as_const(candidate))) return false;
    result.smallest = std::move(candidate);
    return true;
  };
  std::vector<Model> candidates = shrinks(result.smallest);
  for (std::size_t at = 0, failures = 0; failures < candidates.size() && !cut();) {
    at %= candidates.size();
    if (!shown_by(candidates[at])) {
      ++at, ++failures;
      continue;
    }
    candidates = shrinks(result.smallest);
    failures = 0;
    if (options.next == ShrinkOptions::Next::most_drastic) at = 0;
  }
  if (!options.small_weights || result.cut) return result;
  for (Model& candidate : of_small_weights(result.smallest))
    if (cut() || shown_by(candidate)) break;
  return result;
}

}  // namespace draftproof
