// Family "near": p weights 50 to 99, q within 2 of p, so that the last residuals have several tokens.
#pragma once

#include <draftproof/properties/instances/generator.hpp>

namespace draftproof::generators {

struct Near {
  static constexpr std::string_view name = "near";
  static constexpr std::string_view about =
      "p weights 50 to 99, q within 2 of p: the last residuals keep several tokens alive";

  WeightPair operator()(InstanceRng& dice, int vocabulary) const {
    const auto size = static_cast<std::size_t>(vocabulary);
    WeightPair w{std::vector<int>(size), std::vector<int>(size)};
    for (std::size_t i = 0; i < size; ++i) {
      w.target[i] = dice.between(50, 99);
      w.proposal[i] = w.target[i] + dice.between(-2, 2);
    }
    return w;
  }
};

}  // namespace draftproof::generators
