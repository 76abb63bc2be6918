#include <draftproof/properties/statistics/sample_size.hpp>

#include <fmt/format.h>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numbers>
#include <numeric>

#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof {

namespace {

using Binomial = boost::math::binomial_distribution<double>;

}  // namespace

double lower_confidence_bound(std::uint64_t successes, std::uint64_t trials, double alpha) {
  if (successes == 0) return 0;
  return Binomial::find_lower_bound_on_p(static_cast<double>(trials), static_cast<double>(successes), alpha);
}

double upper_confidence_bound(std::uint64_t successes, std::uint64_t trials, double alpha) {
  if (successes == trials) return 1;
  return Binomial::find_upper_bound_on_p(static_cast<double>(trials), static_cast<double>(successes), alpha);
}

Interval clopper_pearson(std::uint64_t successes, std::uint64_t trials, double alpha) {
  return {lower_confidence_bound(successes, trials, alpha / 2), upper_confidence_bound(successes, trials, alpha / 2)};
}

double expected_total_variation(std::span<const double> distribution, std::uint64_t trials) {
  if (trials == 0) return 0;
  const auto n = static_cast<double>(trials);
  double distance = 0;
  for (const double p : distribution) {
    if (p <= 0 || p >= 1) continue;
    const double m = std::floor(n * p) + 1;
    distance += 2 * m * (1 - p) * boost::math::pdf(boost::math::binomial_distribution<double>(n, p), m) / n;
  }
  return distance / 2;
}

double observed_total_variation(std::span<const std::uint64_t> histogram, std::span<const double> distribution) {
  const auto trials = static_cast<double>(std::accumulate(histogram.begin(), histogram.end(), std::uint64_t{0}));
  double distance = 0;
  for (std::size_t x = 0; x < distribution.size(); ++x)
    distance += std::abs(static_cast<double>(histogram[x]) / trials - distribution[x]);
  return distance / 2;
}

namespace {

double z_sum(Detection detection) {
  const boost::math::normal_distribution<double> normal;
  return boost::math::quantile(complement(normal, detection.alpha)) + boost::math::quantile(normal, detection.power);
}

}  // namespace

double two_thirds_norm(std::span<const double> distribution) {
  NeumaierSum sum;
  for (const double p : distribution) {
    const double third = std::cbrt(p);
    sum.add(third * third);
  }
  return std::pow(sum.value(), 1.5);
}

double trials_for_any_shape(double norm, double distance, Detection detection) {
  return std::numbers::sqrt2 * norm * z_sum(detection) / (4 * distance * distance);
}

double distance_of_any_shape(double norm, double trials, Detection detection) {
  return std::sqrt(std::numbers::sqrt2 * norm * z_sum(detection) / (4 * trials));
}

double distance_of_e_value(double norm, double trials, double log_threshold, double power) {
  // At a deviation of z standard deviations, log e of the best of 220 bets is z^2 / 2; their average has up to log 220
  // less.
  const double z = std::sqrt(2 * (log_threshold + std::log(220.0))) +
                   boost::math::quantile(boost::math::normal_distribution<double>(), power);
  return std::sqrt(std::numbers::sqrt2 * norm * z / (4 * trials));
}

std::string sensitivity_of(double distance, std::string_view where) {
  return distance < 1 ? fmt::format("a total variation of {:.2g}{}, in about 99 of 100 runs", distance, where) : "";
}

}  // namespace draftproof
