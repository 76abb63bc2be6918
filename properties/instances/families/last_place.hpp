// Family "last_place": p and q differ by one unit in the last place of weights near a million, on two tokens.
//
// A tolerance above 1e-6 takes the rows for equal, and a comparison that rounds takes them for different where they
// are not. Rows one unit in the last place of a double apart are among the edge rows
// (properties/checks/edge_rows.hpp).
#pragma once

#include <draftproof/properties/instances/generator.hpp>

namespace draftproof::generators {

struct LastPlace {
  static constexpr std::string_view name = "last_place";
  static constexpr std::string_view about =
      "weights near a million; q has one unit more on a token and one less on another";

  WeightPair operator()(InstanceRng& dice, int vocabulary) const {
    constexpr int near = 999'000;
    const auto size = static_cast<std::size_t>(vocabulary);
    WeightPair w{std::vector<int>(size), {}};
    for (int& weight : w.target) weight = near + dice.between(0, 9);
    w.proposal = w.target;
    const int more = dice.between(0, vocabulary - 1), less = (more + dice.between(1, vocabulary - 1)) % vocabulary;
    ++w.proposal[static_cast<std::size_t>(more)];
    --w.proposal[static_cast<std::size_t>(less)];
    return w;
  }
};

}  // namespace draftproof::generators
