// Family "zipf": both laws fall like 1 / rank, with ranks of q shifted token by token.
#pragma once

#include <draftproof/properties/instances/generator.hpp>

namespace draftproof::generators {

struct Zipf {
  static constexpr std::string_view name = "zipf";
  static constexpr std::string_view about = "weights 840 / rank; the ranks of q shifted by 0 to 2, token by token";

  WeightPair operator()(InstanceRng& dice, int vocabulary) const {
    const auto size = static_cast<std::size_t>(vocabulary);
    WeightPair w{std::vector<int>(size), std::vector<int>(size)};
    for (int i = 0; i < vocabulary; ++i) {
      w.target[static_cast<std::size_t>(i)] = 840 / (i + 1);
      w.proposal[static_cast<std::size_t>(i)] = 840 / (1 + (i + dice.between(0, 2)) % vocabulary);
    }
    return w;
  }
};

}  // namespace draftproof::generators
