// A draw of one of few items with weights, such as the nodes of a tree.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <draftproof/sim/random/uniform_source.hpp>

namespace draftproof {

/// Weights over the integers they were added with, in the form that random sources take (random_source.hpp).
template <class Scalar>
class IndexWeights {
 public:
  /// Adds an item; items of weight 0 are never drawn.
  void add(int item, Scalar weight) { weights_.emplace_back(item, std::move(weight)); }

  /// The item drawn by a random word; no_token without items of positive weight.
  Token draw(std::uint64_t word) const {
    double total = 0;
    for (const auto& [item, weight] : weights_) total += static_cast<double>(weight);
    const double threshold = unit_interval(word) * total;
    double running = 0;
    Token last = no_token;
    for (const auto& [item, weight] : weights_) {
      if (!(weight > Scalar{0})) continue;
      running += static_cast<double>(weight);
      last = item;
      if (threshold < running) break;
    }
    return last;
  }
  /// Calls `visit(item, weight)` for each item of positive weight.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [item, weight] : weights_)
      if (weight > Scalar{0}) visit(item, weight);
  }

 private:
  std::vector<std::pair<int, Scalar>> weights_;
};

}  // namespace draftproof
