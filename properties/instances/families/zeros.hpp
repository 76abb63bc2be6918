// Family "zeros": each weight zero with probability one half, else 1 to 30.
#pragma once

#include <draftproof/properties/instances/generator.hpp>

namespace draftproof::generators {

struct Zeros {
  static constexpr std::string_view name = "zeros";
  static constexpr std::string_view about = "each weight zero with probability one half, else 1 to 30";

  WeightPair operator()(InstanceRng& dice, int vocabulary) const {
    const auto size = static_cast<std::size_t>(vocabulary);
    WeightPair w{std::vector<int>(size), std::vector<int>(size)};
    for (std::size_t i = 0; i < size; ++i) {
      w.target[i] = dice.chance(1, 2) ? 0 : dice.between(1, 30);
      w.proposal[i] = dice.chance(1, 2) ? 0 : dice.between(1, 30);
    }
    return w;
  }
};

}  // namespace draftproof::generators
