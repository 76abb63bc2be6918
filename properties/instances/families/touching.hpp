// Family "touching": p and q have one token in common; every other token has mass in at most one of them.
//
// Drafts are accepted at that token alone, and what is left of either row after it has no token of the other.
#pragma once

#include <draftproof/properties/instances/generator.hpp>

namespace draftproof::generators {

struct Touching {
  static constexpr std::string_view name = "touching";
  static constexpr std::string_view about = "supports of p and q meet in one token";
  static constexpr bool keeps_supports = true;

  WeightPair operator()(InstanceRng& dice, int vocabulary) const {
    const auto size = static_cast<std::size_t>(vocabulary);
    WeightPair w{std::vector<int>(size), std::vector<int>(size)};
    const auto common = static_cast<std::size_t>(dice.between(0, vocabulary - 1));
    for (std::size_t x = 0; x < size; ++x) {
      const bool of_target = dice.chance(1, 2);
      if (of_target || x == common) w.target[x] = dice.between(1, 9);
      if (!of_target || x == common) w.proposal[x] = dice.between(1, 9);
    }
    return w;
  }
};

}  // namespace draftproof::generators
