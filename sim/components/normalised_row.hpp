// Weights divided by their sum, in double: the input of tables of probabilities.
//
// Cost: two passes. The sum is compensated, so its error does not grow with V.
#pragma once

#include <span>
#include <vector>

#include <draftproof/sim/numeric/neumaier_sum.hpp>

namespace draftproof {

inline std::vector<double> normalised_row(std::span<const double> weights) {
  const double total = compensated_sum(weights);
  std::vector<double> row;
  row.reserve(weights.size());
  for (const double weight : weights) row.push_back(weight / total);
  return row;
}

}  // namespace draftproof
