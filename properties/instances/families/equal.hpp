// Family "equal": q = p, each weight zero with probability one third, else 1 to 9.
//
// Every ratio is 1 and every residual is empty: a rule that adds a floor, draws from an empty residual or refuses by
// rounding differs here, and one that rejects too little is hidden.
#pragma once

#include <draftproof/properties/instances/generator.hpp>

namespace draftproof::generators {

struct Equal {
  static constexpr std::string_view name = "equal";
  static constexpr std::string_view about = "q = p: each weight zero with probability one third, else 1 to 9";
  static constexpr bool keeps_supports = true;

  WeightPair operator()(InstanceRng& dice, int vocabulary) const {
    const auto size = static_cast<std::size_t>(vocabulary);
    WeightPair w{std::vector<int>(size), {}};
    for (int& weight : w.target) weight = dice.chance(1, 3) ? 0 : dice.between(1, 9);
    // A repair of one row alone would make the rows differ.
    repair_weights(w.target, 1, dice);
    w.proposal = w.target;
    return w;
  }
};

}  // namespace draftproof::generators
