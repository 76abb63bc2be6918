#include <draftproof/properties/statistics/control_variates.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace draftproof {

ControlSums::ControlSums(std::size_t controls, std::size_t outcomes)
    : control(controls),
      outcome(outcomes),
      outcome_square(outcomes),
      gram(controls * controls),
      cross(outcomes * controls) {}

void ControlSums::add(std::span<const double> outcomes, std::span<const double> controls) {
  assert(outcomes.size() == outcome.size() && controls.size() == control.size());
  const std::size_t d = control.size();
  add_outcomes(outcomes);
  for (std::size_t i = 0; i < d; ++i) {
    control[i] += controls[i];
    for (std::size_t j = 0; j <= i; ++j) gram[i * d + j] += controls[i] * controls[j];
  }
  for (std::size_t o = 0; o < outcome.size(); ++o)
    for (std::size_t i = 0; i < d; ++i) cross[o * d + i] += outcomes[o] * controls[i];
}

void ControlSums::add(std::span<const double> outcomes, std::span<const Control> controls) {
  const std::size_t d = control.size();
  add_outcomes(outcomes);
  for (std::size_t n = 0; n < controls.size(); ++n) {
    const auto [i, value] = controls[n];
    assert(i < d && (n == 0 || controls[n - 1].index < i));
    control[i] += value;
    for (std::size_t m = 0; m <= n; ++m) gram[i * d + controls[m].index] += value * controls[m].value;
    for (std::size_t o = 0; o < outcome.size(); ++o) cross[o * d + i] += outcomes[o] * value;
  }
}

void ControlSums::add_outcomes(std::span<const double> outcomes) {
  samples += 1;
  for (std::size_t o = 0; o < outcome.size(); ++o) {
    outcome[o] += outcomes[o];
    outcome_square[o] += outcomes[o] * outcomes[o];
  }
}

ControlSums& ControlSums::operator+=(const ControlSums& other) {
  const auto add = [](std::vector<double>& to, const std::vector<double>& from) {
    assert(to.size() == from.size());
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  samples += other.samples;
  add(control, other.control);
  add(outcome, other.outcome);
  add(outcome_square, other.outcome_square);
  add(gram, other.gram);
  add(cross, other.cross);
  return *this;
}

ControlSums ControlSums::centred() const {
  const std::size_t d = control.size();
  ControlSums sums = *this;
  for (std::size_t i = 0; i < d; ++i)
    for (std::size_t j = 0; j <= i; ++j) sums.gram[i * d + j] -= control[i] * control[j] / samples;
  for (std::size_t o = 0; o < outcome.size(); ++o) {
    sums.outcome_square[o] -= outcome[o] * outcome[o] / samples;
    for (std::size_t i = 0; i < d; ++i) sums.cross[o * d + i] -= outcome[o] * control[i] / samples;
  }
  return sums;
}

std::vector<double> ControlSums::coefficients() const {
  const std::size_t d = control.size();
  ControlSums sums = centred();
  std::vector<double>& l = sums.gram;
  std::vector<char> kept(d, 1);
  // In-place Cholesky factorization, row by row. Rows that are linear combinations of earlier rows are skipped.
  for (std::size_t i = 0; i < d; ++i) {
    // The pivot is compared with the diagonal before centring: after centring, a constant control has only rounding
    // errors, with which every pivot would compare as large.
    const double diagonal = gram[i * d + i];
    for (std::size_t j = 0; j <= i; ++j) {
      double value = l[i * d + j];
      for (std::size_t k = 0; k < j; ++k)
        if (kept[k]) value -= l[i * d + k] * l[j * d + k];
      if (j < i) {
        l[i * d + j] = kept[j] ? value / l[j * d + j] : 0;
      } else {
        kept[i] = value > 0x1p-36 * diagonal;
        l[i * d + i] = kept[i] ? std::sqrt(value) : 1;
      }
    }
  }
  std::vector<double> beta(outcome.size() * d);
  for (std::size_t o = 0; o < outcome.size(); ++o) {
    double* const b = beta.data() + o * d;
    for (std::size_t i = 0; i < d; ++i) {
      if (!kept[i]) continue;
      double value = sums.cross[o * d + i];
      for (std::size_t k = 0; k < i; ++k) value -= l[i * d + k] * b[k];
      b[i] = value / l[i * d + i];
    }
    for (std::size_t i = d; i-- > 0;) {
      if (!kept[i]) continue;
      double value = b[i];
      for (std::size_t k = i + 1; k < d; ++k)
        if (kept[k]) value -= l[k * d + i] * b[k];
      b[i] = value / l[i * d + i];
    }
  }
  return beta;
}

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
