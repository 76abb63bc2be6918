#include <draftproof/statistics/control_variates.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace draftproof {

ControlVariates::ControlVariates(std::size_t controls, std::size_t outcomes)
    : controls_{controls}, outcomes_{outcomes} {
  for (Half& half : halves_) {
    half.control.resize(controls);
    half.outcome.resize(outcomes);
    half.outcome_square.resize(outcomes);
    half.gram.resize(controls * controls);
    half.cross.resize(outcomes * controls);
  }
}

void ControlVariates::add(std::span<const double> outcomes, std::span<const double> controls) {
  assert(outcomes.size() == outcomes_ && controls.size() == controls_);
  Half& half = halves_[added_++ % 2];
  half.samples += 1;
  for (std::size_t i = 0; i < controls_; ++i) {
    half.control[i] += controls[i];
    // Indicators are zero most of the time, but centred ones are not: no branch.
    for (std::size_t j = 0; j <= i; ++j) half.gram[i * controls_ + j] += controls[i] * controls[j];
  }
  for (std::size_t o = 0; o < outcomes_; ++o) {
    half.outcome[o] += outcomes[o];
    half.outcome_square[o] += outcomes[o] * outcomes[o];
    for (std::size_t i = 0; i < controls_; ++i) half.cross[o * controls_ + i] += outcomes[o] * controls[i];
  }
}

ControlVariates::Half ControlVariates::centred(const Half& half) const {
  Half sums = half;
  for (std::size_t i = 0; i < controls_; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      sums.gram[i * controls_ + j] -= half.control[i] * half.control[j] / half.samples;
  for (std::size_t o = 0; o < outcomes_; ++o) {
    sums.outcome_square[o] -= half.outcome[o] * half.outcome[o] / half.samples;
    for (std::size_t i = 0; i < controls_; ++i)
      sums.cross[o * controls_ + i] -= half.outcome[o] * half.control[i] / half.samples;
  }
  return sums;
}

std::vector<double> ControlVariates::coefficients(Half sums) const {
  const std::size_t d = controls_;
  std::vector<double>& l = sums.gram;
  std::vector<char> kept(d, 1);
  // Cholesky in place, row by row; a row that earlier ones explain is left out.
  for (std::size_t i = 0; i < d; ++i) {
    const double diagonal = l[i * d + i];
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
  std::vector<double> beta(outcomes_ * d);
  for (std::size_t o = 0; o < outcomes_; ++o) {
    double* const b = &beta[o * d];
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

std::vector<ControlledEstimate> ControlVariates::estimates() const {
  const std::size_t d = controls_;
  const std::array<Half, 2> sums{centred(halves_[0]), centred(halves_[1])};
  std::vector<ControlledEstimate> out(outcomes_);
  for (std::size_t h = 0; h < 2; ++h) {
    assert(halves_[h].samples >= 2);
    const auto beta = coefficients(sums[1 - h]);
    const double n = halves_[h].samples, all = halves_[0].samples + halves_[1].samples;
    for (std::size_t o = 0; o < outcomes_; ++o) {
      const double* const b = &beta[o * d];
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
