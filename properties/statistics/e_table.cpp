#include <draftproof/properties/statistics/e_table.hpp>
#include <draftproof/properties/statistics/log_mean_exp.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <draftproof/properties/statistics/count_models.hpp>
#include <draftproof/properties/statistics/error_budget.hpp>
#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof {

namespace {

constexpr std::array<double, 10> concentrations{1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};

}  // namespace

double log_e_spike(double count, double mean) {
  std::array<double, concentrations.size()> bets;
  for (std::size_t c = 0; c < bets.size(); ++c) bets[c] = log_gamma_poisson(count, mean, concentrations[c]);
  return log_mean_exp(bets);
}

double log_e_single_cell(std::span<const double> null_distribution, std::span<const std::uint64_t> counts,
                         double exposure) {
  assert(counts.size() == null_distribution.size());
  std::vector<double> means, observed;
  for (std::size_t i = 0; i < null_distribution.size(); ++i) {
    if (null_distribution[i] > 0) {
      means.push_back(exposure * null_distribution[i]);
      observed.push_back(static_cast<double>(counts[i]));
    } else if (counts[i] > 0) {
      return std::numeric_limits<double>::infinity();
    }
  }
  if (means.empty() || !(exposure > 0)) return 0;

  std::array<double, concentrations.size()> averages{};
#pragma omp parallel for schedule(dynamic) if (means.size() > 4096)
  for (std::size_t c = 0; c < averages.size(); ++c) {
    std::vector<double> bets(means.size());
    for (std::size_t i = 0; i < bets.size(); ++i)
      bets[i] = log_gamma_poisson(observed[i], means[i], concentrations[c]);
    averages[c] = log_mean_exp(bets);
  }
  return log_mean_exp(averages);
}

namespace {

constexpr double smallest_shape = 1e-150;

/// Returns w^(0, 1/3, 2/3, 1).
std::array<double, 4> thirds(double w) {
  const double third = std::cbrt(w);
  return {1, third, third * third, w};
}

/// Returns the cells of positive probability in ascending order of it.
std::vector<std::uint32_t> live_cells(std::span<const double> distribution) {
  std::vector<std::uint32_t> cells;
  for (std::size_t i = 0; i < distribution.size(); ++i)
    if (distribution[i] > 0) cells.push_back(static_cast<std::uint32_t>(i));
  std::stable_sort(cells.begin(), cells.end(), [&](auto i, auto j) { return distribution[i] < distribution[j]; });
  return cells;
}

std::vector<std::uint32_t> impossible_cells(std::span<const double> distribution) {
  std::vector<std::uint32_t> cells;
  for (std::size_t i = 0; i < distribution.size(); ++i)
    if (!(distribution[i] > 0)) cells.push_back(static_cast<std::uint32_t>(i));
  return cells;
}

std::vector<double> taken(std::span<const double> distribution, std::span<const std::uint32_t> order) {
  std::vector<double> out;
  out.reserve(order.size());
  for (const std::uint32_t i : order) out.push_back(distribution[i]);
  return out;
}

}  // namespace

ETable::ETable(std::span<const double> null_distribution)
    : size_{null_distribution.size()},
      order_{live_cells(null_distribution)},
      dropped_{impossible_cells(null_distribution)},
      cells_{taken(null_distribution, order_)} {
  assert(!order_.empty());
  std::array<NeumaierSum, powers> sums;
  for (const double w : cells_.probabilities()) {
    const auto power = thirds(w);
    for (std::size_t k = 0; k < powers; ++k) sums[k].add(power[k]);
  }
  for (std::size_t k = 0; k < powers; ++k) mean_power_[k] = sums[k].value() / static_cast<double>(order_.size());
}

double ETable::log_e(std::span<const std::uint64_t> counts, double exposure) const {
  assert(counts.size() == size_);
  for (const std::uint32_t i : dropped_)
    if (counts[i] > 0) return std::numeric_limits<double>::infinity();
  if (!(exposure > 0)) return 0;

  std::vector<std::uint64_t> sorted(order_.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = counts[order_[i]];
  const WeightedCells cells = cells_.shorten(sorted);
  std::array<std::vector<double>, powers> shapes;
  for (auto& shape : shapes) shape.resize(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto power = thirds(cells.probability[i]);
    for (std::size_t k = 0; k < powers; ++k) shapes[k][i] = power[k] / mean_power_[k];
  }

  std::array<double, powers * concentrations> members{};
  // Starting threads costs more than a small table.
#pragma omp parallel for schedule(dynamic) if (cells.size() > 4096)
  for (std::size_t member = 0; member < members.size(); ++member) {
    double concentration = 1;
    for (std::size_t ten = 0; ten < member / powers; ++ten) concentration *= 10;
    const auto& shape = shapes[member % powers];
    NeumaierSum sum;
    for (std::size_t i = 0; i < cells.size(); ++i)
      sum.add(cells.weight[i] * log_gamma_poisson(cells.count[i], exposure * cells.probability[i],
                                                  std::max(concentration * shape[i], smallest_shape)));
    members[member] = sum.value();
  }
  return log_mean_exp(members);
}

}  // namespace draftproof
