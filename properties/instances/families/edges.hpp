// Families of generated models: rows with zeros and other edges.
#pragma once

#include <draftproof/properties/instances/generator.hpp>
#include <draftproof/properties/instances/instance_text.hpp>

namespace draftproof::generators {

// Family "disjoint": p has mass on odd tokens and q on even tokens; with probability 1/4 a token also has weight 1 in
// the other row.
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

// Family "last_place": p and q differ by one unit in the last place of weights near a million, on two tokens.
//
// Reveals verifiers with tolerances above 1e-6, which treat the rows as equal, and verifiers that compare rounded
// numbers, which treat equal numbers as different. Rows that differ by one unit in the last place of a double are
// among the edge rows (properties/checks/edge_rows.hpp).
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

// Family "one_entry": the weights of q are equal to the weights of p except for one token.
//
// After normalisation one ratio differs from all others, which are equal. The residual is one token, or proportional
// to p on all tokens but one.
struct OneEntry {
  static constexpr std::string_view name = "one_entry";
  static constexpr std::string_view about = "weights 1 to 9; q has the weights of p except for one token";

  WeightPair operator()(InstanceRng& dice, int vocabulary) const {
    const auto size = static_cast<std::size_t>(vocabulary);
    WeightPair w{std::vector<int>(size), {}};
    for (int& weight : w.target) weight = dice.between(1, 9);
    w.proposal = w.target;
    int& other = w.proposal[static_cast<std::size_t>(dice.between(0, vocabulary - 1))];
    // Changes the weight to another value of 0 to 9; the value 0 has probability 1/9.
    other = (other + dice.between(1, 9)) % 10;
    return w;
  }
};

// Family "one_residual": the residual (p - q)+ has one token, and q has mass on other tokens.
//
//   x          token of the residual: q(x) < p(x), q(y) >= p(y) for all others
//
// A draw from the residual must give x. This reveals a rule that draws from p or q instead, or that gives every token a
// minimum probability.
struct OneResidual {
  static constexpr std::string_view name = "one_residual";
  static constexpr std::string_view about = "p above q on one token only; q spreads the difference over the others";

  WeightPair operator()(InstanceRng& dice, int vocabulary) const {
    const auto size = static_cast<std::size_t>(vocabulary);
    WeightPair w{std::vector<int>(size), {}};
    for (int& weight : w.target) weight = dice.chance(1, 4) ? 0 : dice.between(1, 9);
    const auto x = static_cast<std::size_t>(dice.between(0, vocabulary - 1));
    // Makes q by moving units of the weight of token x, possibly all, to random other tokens, so that both rows have
    // the same sum.
    w.target[x] = dice.between(4, 12);
    w.proposal = w.target;
    for (int moved = dice.between(1, w.target[x]); moved > 0; --moved) {
      --w.proposal[x];
      ++w.proposal[(x + static_cast<std::size_t>(dice.between(1, vocabulary - 1))) % size];
    }
    return w;
  }
};

// Family "touching": p and q have one token in common; every other token has mass in at most one of them.
//
// Only a draft of the common token can be accepted, and p and q have disjoint supports on the other tokens.
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

// Family "zeros": each weight is zero with probability one half, else 1 to 30.
struct Zeros {
  static constexpr std::string_view name = "zeros";
  static constexpr std::string_view about = "each weight zero with probability one half, else 1 to 30";

  WeightPair operator()(InstanceRng& dice, int vocabulary) const {
    return weights_by(vocabulary, [&dice] { return dice.chance(1, 2) ? 0 : dice.between(1, 30); });
  }
};

}  // namespace draftproof::generators
