#include <draftproof/statistics/interval.hpp>

#include <cmath>
#include <numeric>

#include <boost/math/distributions/binomial.hpp>

namespace draftproof {

double expected_total_variation(std::span<const double> law, std::uint64_t trials) {
  if (trials == 0) return 0;
  const auto n = static_cast<double>(trials);
  double distance = 0;
  for (const double p : law) {
    if (p <= 0 || p >= 1) continue;
    const double m = std::floor(n * p) + 1;
    distance += 2 * m * (1 - p) * boost::math::pdf(boost::math::binomial_distribution<double>(n, p), m) / n;
  }
  return distance / 2;
}

double observed_total_variation(std::span<const std::uint64_t> histogram, std::span<const double> law) {
  const auto trials = static_cast<double>(std::accumulate(histogram.begin(), histogram.end(), std::uint64_t{0}));
  double distance = 0;
  for (std::size_t x = 0; x < law.size(); ++x)
    distance += std::abs(static_cast<double>(histogram[x]) / trials - law[x]);
  return distance / 2;
}

}  // namespace draftproof
