// Family "ties": weights 1 to 3, so that ratios tie.
#pragma once

#include <draftproof/properties/instances/generator.hpp>

namespace draftproof::generators {

struct Ties {
  static constexpr std::string_view name = "ties";
  static constexpr std::string_view about = "weights 1 to 3, so that ratios tie";

  WeightPair operator()(InstanceRng& dice, int vocabulary) const {
    const auto size = static_cast<std::size_t>(vocabulary);
    WeightPair w{std::vector<int>(size), std::vector<int>(size)};
    for (std::size_t i = 0; i < size; ++i) {
      w.target[i] = dice.between(1, 3);
      w.proposal[i] = dice.between(1, 3);
    }
    return w;
  }
};

}  // namespace draftproof::generators
