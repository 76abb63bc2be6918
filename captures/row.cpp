#include <draftproof/captures/row.hpp>

#include <cassert>
#include <cmath>

#include <fmt/format.h>

#include <draftproof/captures/array.hpp>
#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof {

void normalise(std::vector<double>& weights) {
  const double sum = compensated_sum(weights);
  assert(sum > 0 && std::isfinite(sum));
  for (double& weight : weights) weight /= sum;
}

std::vector<double> check_row(std::span<const double> row, const RowPlace& place, double tolerance) {
  for (std::size_t token = 0; token < row.size(); ++token) {
    if (std::isfinite(row[token]) && row[token] >= 0) continue;
    throw array_error(place.file, place.array, std::isnan(row[token]) ? "NaN" : fmt::format("{}", row[token]),
                      "a finite probability >= 0", place.row, token);
  }
  std::vector<double> distribution(row.begin(), row.end());
  const double sum = compensated_sum(distribution);
  // The negated comparison also rejects an infinite sum, to which finite entries can overflow.
  if (!(std::abs(sum - 1) <= tolerance))
    throw array_error(place.file, place.array, fmt::format("probabilities with sum {:.9g}", sum),
                      fmt::format("a sum within {:g} of 1", tolerance), place.row);
  for (double& probability : distribution) probability /= sum;
  return distribution;
}

}  // namespace draftproof
