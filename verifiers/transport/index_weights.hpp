// A draw of one of few items with weights, such as the nodes of a tree.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <draftproof/sim/random/uniform_source.hpp>

namespace draftproof {

/// Weights over integers with the interface of a random source (random_source.hpp).
template <class Scalar>
class IndexWeights {
 public:
  void add(int item, Scalar weight) { weights_.emplace_back(item, std::move(weight)); }

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
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [item, weight] : weights_)
      if (weight > Scalar{0}) visit(item, weight);
  }

 private:
  std::vector<std::pair<int, Scalar>> weights_;
};

}  // namespace draftproof
