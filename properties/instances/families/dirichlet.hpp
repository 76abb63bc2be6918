// Family "dirichlet": weights of p and q uniform in 1 to 40.
#pragma once

#include <draftproof/properties/instances/generator.hpp>

namespace draftproof::generators {

struct Dirichlet {
  static constexpr std::string_view name = "dirichlet";
  static constexpr std::string_view about = "weights of p and q uniform in 1 to 40";

  WeightPair operator()(InstanceRng& dice, int vocabulary) const {
    const auto size = static_cast<std::size_t>(vocabulary);
    WeightPair w{std::vector<int>(size), std::vector<int>(size)};
    for (std::size_t i = 0; i < size; ++i) {
      w.target[i] = dice.between(1, 40);
      w.proposal[i] = dice.between(1, 40);
    }
    return w;
  }
};

}  // namespace draftproof::generators
