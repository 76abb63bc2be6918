// Family "disjoint": p on odd tokens, q on even ones; with probability 1/4 a weight of 1 on the other side.
#pragma once

#include <draftproof/properties/instances/generator.hpp>

namespace draftproof::generators {

struct Disjoint {
  static constexpr std::string_view name = "disjoint";
  static constexpr std::string_view about =
      "p on odd tokens, q on even ones; with probability 1/4 a 1 on the other side";

  WeightPair operator()(InstanceRng& dice, int vocabulary) const {
    const auto size = static_cast<std::size_t>(vocabulary);
    WeightPair w{std::vector<int>(size), std::vector<int>(size)};
    for (std::size_t i = 0; i < size; ++i) {
      auto& own = i % 2 ? w.target : w.proposal;
      auto& other = i % 2 ? w.proposal : w.target;
      own[i] = dice.between(1, 20);
      other[i] = dice.chance(1, 4);
    }
    return w;
  }
};

}  // namespace draftproof::generators
