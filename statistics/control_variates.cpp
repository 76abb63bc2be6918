#include <draftproof/statistics/control_variates.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace draftproof {

ControlVariates::ControlVariates(std::size_t controls, std::size_t outcomes)
    : halves_{ControlSums(controls, outcomes), ControlSums(controls, outcomes)} {}

void ControlVariates::add(std::span<const double> outcomes, std::span<const double> controls) {
  halves_[added_++ % 2].add(outcomes, controls);
}

std::vector<ControlledEstimate> ControlVariates::estimates() const {
  const std::size_t d = halves_[0].control.size(), outcomes = halves_[0].outcome.size();
  const std::array<ControlSums, 2> sums{halves_[0].centred(), halves_[1].centred()};
  std::vector<ControlledEstimate> out(outcomes);
  for (std::size_t h = 0; h < 2; ++h) {
    assert(halves_[h].samples >= 2);
    const auto beta = halves_[1 - h].coefficients();
    const double n = halves_[h].samples, all = halves_[0].samples + halves_[1].samples;
    for (std::size_t o = 0; o < outcomes; ++o) {
      const double* const b = beta.data() + o * d;
      double total = halves_[h].outcome[o], squares = sums[h].outcome_square[o];
      for (std::size_t i = 0; i < d; ++i) {
        total -= b[i] * halves_[h].control[i];
        squares += b[i] * (sums[h].gram[i * d + i] * b[i] - 2 * sums[h].cross[o * d + i]);
        for (std::size_t j = 0; j < i; ++j) squares += 2 * b[i] * b[j] * sums[h].gram[i * d + j];
      }
      out[o].mean += total / all;
      out[o].standard_error += std::max(squares, 0.0) / (n - 1) * n / (all * all);
    }
  }
  for (ControlledEstimate& estimate : out) estimate.standard_error = std::sqrt(estimate.standard_error);
  return out;
}

}  // namespace draftproof
