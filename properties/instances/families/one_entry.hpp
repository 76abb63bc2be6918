// Family "one_entry": the weights of q are those of p but for one token.
//
// After normalisation one ratio is below 1 and all others are equal, or the other way round: the residual is one
// token, or p on all tokens but one.
#pragma once

#include <draftproof/properties/instances/generator.hpp>

namespace draftproof::generators {

struct OneEntry {
  static constexpr std::string_view name = "one_entry";
  static constexpr std::string_view about = "weights 1 to 9, those of q equal to those of p but for one token";

  WeightPair operator()(InstanceRng& dice, int vocabulary) const {
    const auto size = static_cast<std::size_t>(vocabulary);
    WeightPair w{std::vector<int>(size), {}};
    for (int& weight : w.target) weight = dice.between(1, 9);
    w.proposal = w.target;
    int& other = w.proposal[static_cast<std::size_t>(dice.between(0, vocabulary - 1))];
    // Anything but what it was, 0 included: one in ten.
    other = (other + dice.between(1, 9)) % 10;
    return w;
  }
};

}  // namespace draftproof::generators
