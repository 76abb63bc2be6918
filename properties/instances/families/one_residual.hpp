// Family "one_residual": the residual (p - q)+ has one token, and q has mass beside it.
//
//   x          token of the residual: q(x) < p(x), q(y) >= p(y) for all others
//
// A draw from the residual is certain, so a rule that draws from p, from q or from a floor instead shows at once.
#pragma once

#include <draftproof/properties/instances/generator.hpp>

namespace draftproof::generators {

struct OneResidual {
  static constexpr std::string_view name = "one_residual";
  static constexpr std::string_view about =
      "p above q on one token alone; q spreads what it takes there over the others";

  WeightPair operator()(InstanceRng& dice, int vocabulary) const {
    const auto size = static_cast<std::size_t>(vocabulary);
    WeightPair w{std::vector<int>(size), {}};
    for (int& weight : w.target) weight = dice.chance(1, 4) ? 0 : dice.between(1, 9);
    const auto x = static_cast<std::size_t>(dice.between(0, vocabulary - 1));
    // Of rows with the same sum: q takes up to all of token x and gives it to the others, unit by unit.
    w.target[x] = dice.between(4, 12);
    w.proposal = w.target;
    for (int moved = dice.between(1, w.target[x]); moved > 0; --moved) {
      --w.proposal[x];
      ++w.proposal[(x + static_cast<std::size_t>(dice.between(1, vocabulary - 1))) % size];
    }
    return w;
  }
};

}  // namespace draftproof::generators
