// Small models that can be enumerated: one pair of rows for all contexts, or random rows at every prefix.
//
//   p, q      target, proposal   integer weights, normalised in fractions or in doubles
#pragma once

#include <cstdint>
#include <vector>

#include <draftproof/exact/rational.hpp>
#include <draftproof/properties/instances/generator.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof {

template <class Weight>
using PathModel = PrefixTable<Rows<Weight>>;

template <class Weight>
Rows<Weight> path_rows(const WeightPair& pair) {
  const auto row = [](const std::vector<int>& weights) {
    std::vector<Weight> law;
    for (const Rational& probability : normalised(weights)) law.push_back(static_cast<Weight>(probability));
    return law;
  };
  return Rows<Weight>(row(pair.target), row(pair.proposal));
}

/// The same rows after every prefix.
template <class Weight>
PathModel<Weight> constant_model(const WeightPair& pair) {
  return PathModel<Weight>({path_rows<Weight>(pair)});
}

/// Random weights of 0 to 5, with zeros and ties, at every prefix of up to `length` tokens.
inline std::vector<WeightPair> random_path_weights(std::uint64_t seed, std::uint64_t instance, int vocabulary,
                                                   int length) {
  InstanceRng dice(seed, instance);
  const auto weights = [&] {
    std::vector<int> row(static_cast<std::size_t>(vocabulary));
    int total = 0;
    while (total == 0)
      for (int& weight : row) total += weight = dice.between(0, 5);
    return row;
  };
  std::vector<WeightPair> pairs;
  for (int level = 0, width = 1; level <= length; ++level, width *= vocabulary)
    for (int c = 0; c < width; ++c) {
      auto target = weights();
      pairs.push_back({std::move(target), weights()});
    }
  return pairs;
}

template <class Weight>
PathModel<Weight> path_model(const std::vector<WeightPair>& pairs) {
  std::vector<Rows<Weight>> rows;
  for (const WeightPair& pair : pairs) rows.push_back(path_rows<Weight>(pair));
  return PathModel<Weight>(std::move(rows));
}

}  // namespace draftproof
