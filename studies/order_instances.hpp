// The instances on which an order of schemes is tested: all families of the proofs, and seven more where inequalities
// between schemes become equalities, or where they are widest.
//
//   tight       p of every prefix is q of that prefix to the K-th power: every prefix attains the optimum 1
//   nearly      the same, with some weights off by one unit
//   one_hot     q has nearly all its mass on one token
//   spiked      p has nearly all its mass on the most probable token of a flat q
//   reversed    p is q backwards
//   sharpened   p proportional to q^2
//   nudged      p is q with a unit moved
//
// Instance n of a seed is the same on every machine. V is 2 to 8, K is 1 to 4; families take turns.
#pragma once

#include <algorithm>
#include <array>

#include <draftproof/properties/instances/instance.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

namespace order {

using Weights = std::vector<int>;

inline Weights weights(InstanceRng& dice, int vocabulary, int most) {
  Weights row(static_cast<std::size_t>(vocabulary));
  for (int& weight : row) weight = dice.between(1, most);
  return row;
}

inline WeightPair tight(InstanceRng& dice, int vocabulary, int drafts) {
  const Weights q = weights(dice, vocabulary, 5);  // 40^4 fits an int
  Weights p;
  int sum = 0, before = 0;
  for (const int weight : q) {
    sum += weight;
    int power = 1;
    for (int k = 0; k < drafts; ++k) power *= sum;
    p.push_back(power - before);
    before = power;
  }
  return {p, q};
}

inline WeightPair nearly(InstanceRng& dice, int vocabulary, int drafts) {
  WeightPair pair = tight(dice, vocabulary, drafts);
  for (int& weight : pair.target) weight = std::max(0, weight + dice.between(-1, 1));
  return pair;
}

inline WeightPair one_hot(InstanceRng& dice, int vocabulary, int) {
  WeightPair pair{weights(dice, vocabulary, 20), weights(dice, vocabulary, 3)};
  pair.proposal[static_cast<std::size_t>(dice.between(0, vocabulary - 1))] = 200;
  return pair;
}

inline WeightPair spiked(InstanceRng& dice, int vocabulary, int) {
  WeightPair pair{weights(dice, vocabulary, 3), weights(dice, vocabulary, 10)};
  for (int& weight : pair.proposal) weight += 10;
  pair.target[static_cast<std::size_t>(std::max_element(pair.proposal.begin(), pair.proposal.end()) -
                                       pair.proposal.begin())] = 100;
  return pair;
}

inline WeightPair reversed(InstanceRng& dice, int vocabulary, int) {
  const Weights q = weights(dice, vocabulary, 40);
  return {Weights(q.rbegin(), q.rend()), q};
}

inline WeightPair sharpened(InstanceRng& dice, int vocabulary, int) {
  const Weights q = weights(dice, vocabulary, 20);
  Weights p;
  for (const int weight : q) p.push_back(weight * weight);
  return {p, q};
}

inline WeightPair nudged(InstanceRng& dice, int vocabulary, int) {
  WeightPair pair{weights(dice, vocabulary, 9), {}};
  pair.proposal = pair.target;
  ++pair.target[static_cast<std::size_t>(dice.between(0, vocabulary - 1))];
  --pair.target[static_cast<std::size_t>(dice.between(0, vocabulary - 1))];
  return pair;
}

using Family = WeightPair (*)(InstanceRng&, int vocabulary, int drafts);
inline constexpr std::array<Family, 7> families{&tight, &nearly, &one_hot, &spiked, &reversed, &sharpened, &nudged};

}  // namespace order

inline Instance order_instance(std::uint64_t seed, std::uint64_t n) {
  const auto& generators = registry().generators();
  const std::size_t family = n % (generators.size() + order::families.size());
  InstanceRng dice(seed, n);
  Instance instance;
  instance.drafts = dice.between(1, 4);
  const int vocabulary = dice.between(2, 8);
  WeightPair pair = family < generators.size()
                        ? generators[family].weights(dice, vocabulary)
                        : order::families[family - generators.size()](dice, vocabulary, instance.drafts);
  // A row of zeros is no law.
  for (auto* row : {&pair.target, &pair.proposal})
    if (std::all_of(row->begin(), row->end(), [](int weight) { return weight == 0; }))
      (*row)[static_cast<std::size_t>(dice.between(0, vocabulary - 1))] = 1;
  instance.target = std::move(pair.target);
  instance.proposals.push_back(std::move(pair.proposal));
  return instance;
}

}  // namespace draftproof
