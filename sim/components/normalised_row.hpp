// Weights divided by their sum, in double: the input of tables of probabilities.
//
// Cost: two passes. The sum is compensated (Neumaier), so its error does not grow with V.
#pragma once

#include <cmath>
#include <span>
#include <vector>

namespace draftproof {

inline std::vector<double> normalised_row(std::span<const double> weights) {
  double total = 0, lost = 0;
  for (const double weight : weights) {
    const double next = total + weight;
    lost += std::fabs(total) >= std::fabs(weight) ? (total - next) + weight : (weight - next) + total;
    total = next;
  }
  total += lost;
  std::vector<double> row;
  row.reserve(weights.size());
  for (const double weight : weights) row.push_back(weight / total);
  return row;
}

}  // namespace draftproof
