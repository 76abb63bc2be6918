// Families of generated models: rows of a general shape.
#pragma once

#include <draftproof/properties/instances/generator.hpp>
#include <draftproof/properties/instances/instance_text.hpp>

namespace draftproof::generators {

// Family "dirichlet": weights of p and q are uniform in 1 to 40.
struct Dirichlet {
  static constexpr std::string_view name = "dirichlet";
  static constexpr std::string_view about = "weights of p and q uniform in 1 to 40";

  WeightPair operator()(InstanceRng& dice, int vocabulary) const {
    return weights_by(vocabulary, [&dice] { return dice.between(1, 40); });
  }
};

// Family "equal": q = p; each weight is zero with probability one third, else 1 to 9.
//
// Every ratio is 1 and every residual is empty. This reveals a rule that adds a minimum probability, draws from an
// empty residual or rejects because of rounding. It cannot reveal a rule that rejects too little.
struct Equal {
  static constexpr std::string_view name = "equal";
  static constexpr std::string_view about = "q = p: each weight zero with probability one third, else 1 to 9";
  static constexpr bool keeps_supports = true;

  WeightPair operator()(InstanceRng& dice, int vocabulary) const {
    const auto size = static_cast<std::size_t>(vocabulary);
    WeightPair w{std::vector<int>(size), {}};
    for (int& weight : w.target) weight = dice.chance(1, 3) ? 0 : dice.between(1, 9);
    // The row is repaired before the copy, because repair of each row alone would make p and q differ.
    repair_weights(w.target, 1, dice);
    w.proposal = w.target;
    return w;
  }
};

// Family "flat": one row is uniform, and the other row falls like 1 / rank.
//
// All entries of the uniform row tie. A verifier that sorts or compares them breaks ties by the order of the tokens, or
// uses an arbitrary order if rounding has made the entries unequal.
struct Flat {
  static constexpr std::string_view name = "flat";
  static constexpr std::string_view about = "one row uniform, the other 840 / rank: all entries of a row tie";

  WeightPair operator()(InstanceRng& dice, int vocabulary) const {
    const auto size = static_cast<std::size_t>(vocabulary);
    WeightPair w{std::vector<int>(size, 1), std::vector<int>(size, 1)};
    auto& falling = dice.chance(1, 3) ? w.proposal : w.target;
    for (std::size_t i = 0; i < size; ++i) falling[i] = 840 / static_cast<int>(i + 1);
    return w;
  }
};

// Family "near": weights of p are 50 to 99 and weights of q differ by at most 2, so that the residuals after several
// rejections still have several tokens.
struct Near {
  static constexpr std::string_view name = "near";
  static constexpr std::string_view about = "p weights 50 to 99, q within 2 of p: late residuals have several tokens";

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

// Family "zipf": both rows fall like 1 / rank; the rank of each token in q is shifted by a random 0 to 2.
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

// Family "ties": weights are 1 to 3, so that ratios tie.
struct Ties {
  static constexpr std::string_view name = "ties";
  static constexpr std::string_view about = "weights 1 to 3, so that ratios tie";

  WeightPair operator()(InstanceRng& dice, int vocabulary) const {
    return weights_by(vocabulary, [&dice] { return dice.between(1, 3); });
  }
};

}  // namespace draftproof::generators
