#include <draftproof/statistics/e_single_cell.hpp>

#include <array>
#include <cassert>
#include <cstddef>
#include <limits>
#include <vector>

#include <draftproof/statistics/gamma_poisson.hpp>
#include <draftproof/statistics/log_mean_exp.hpp>

namespace draftproof {
namespace {

constexpr std::array<double, 10> concentrations{1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};

}  // namespace

double log_e_spike(double count, double mean) {
  std::array<double, concentrations.size()> bets;
  for (std::size_t c = 0; c < bets.size(); ++c) bets[c] = log_gamma_poisson(count, mean, concentrations[c]);
  return log_mean_exp(bets);
}

double log_e_single_cell(std::span<const double> null_law, std::span<const std::uint64_t> counts, double exposure) {
  assert(counts.size() == null_law.size());
  std::vector<double> means, observed;
  for (std::size_t i = 0; i < null_law.size(); ++i) {
    if (null_law[i] > 0) {
      means.push_back(exposure * null_law[i]);
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

}  // namespace draftproof
