#include <draftproof/statistics/sample_size.hpp>

#include <cmath>
#include <numbers>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>

#include <draftproof/sim/numeric/neumaier_sum.hpp>

namespace draftproof {
namespace {

double z_sum(Detection detection) {
  const boost::math::normal_distribution<double> normal;
  return boost::math::quantile(complement(normal, detection.alpha)) + boost::math::quantile(normal, detection.power);
}

}  // namespace

double two_thirds_norm(std::span<const double> law) {
  NeumaierSum sum;
  for (const double p : law) {
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

double trials_along_groups(int groups, double distance, Detection detection) {
  using NonCentral = boost::math::non_central_chi_squared_distribution<double>;
  const boost::math::chi_squared_distribution<double> null(groups - 1);
  const double limit = boost::math::quantile(complement(null, detection.alpha));
  const double lambda = NonCentral::find_non_centrality(groups - 1, limit, 1 - detection.power);
  return lambda / (4 * distance * distance);
}

}  // namespace draftproof
