// Planned numbers of trials: against values computed elsewhere, and against the actual power of the quadratic
// statistic.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <boost/math/distributions/non_central_chi_squared.hpp>

#include <draftproof/statistics/sample_size.hpp>

namespace draftproof {
namespace {

std::vector<double> zipf_law(std::size_t vocabulary) {
  std::vector<double> law(vocabulary);
  double sum = 0;
  for (std::size_t i = 0; i < vocabulary; ++i) sum += law[i] = std::pow(static_cast<double>(i) + 2.7, -1.1);
  for (double& p : law) p /= sum;
  return law;
}

TEST(SampleSize, ReproducesTheReferenceTable) {
  // Norms to three digits and log2 N to one, at power 0.9.
  struct Row {
    std::size_t vocabulary;
    double norm, distance, log2_trials;
  };
  for (const Row& row : {Row{1000, 19.7, 0.05, 14.3}, Row{1000, 19.7, 0.001, 25.6}, Row{32000, 71.7, 0.01, 20.8},
                         Row{32000, 71.7, 0.003, 24.3}, Row{32000, 71.7, 0.001, 27.5}, Row{128256, 120, 0.001, 28.2},
                         Row{262144, 157, 0.001, 28.6}}) {
    const double norm = two_thirds_norm(zipf_law(row.vocabulary));
    EXPECT_NEAR(norm / row.norm, 1, 5e-3) << row.vocabulary;
    EXPECT_NEAR(std::log2(trials_for_any_shape(norm, row.distance, {.power = 0.9})), row.log2_trials, 0.05)
        << row.vocabulary << " " << row.distance;
  }
  EXPECT_NEAR(two_thirds_norm(std::vector<double>(262144, 1.0 / 262144)), 512, 1e-6);
}

TEST(SampleSize, DistanceInvertsTrials) {
  for (const double distance : {0.2, 0.01, 1e-4})
    EXPECT_NEAR(distance_of_any_shape(71.7, trials_for_any_shape(71.7, distance)) / distance, 1, 1e-14);
  EXPECT_GT(trials_for_any_shape(71.7, 0.01), trials_for_any_shape(71.7, 0.01, {.power = 0.9}));
}

TEST(SampleSize, GroupsReachTheirPowerExactly) {
  for (const double power : {0.9, 0.99}) {
    const double trials = trials_along_groups(32, 0.001, {.power = power});
    const double lambda = trials * 4 * 0.001 * 0.001;
    const boost::math::chi_squared_distribution<double> null(31);
    const double limit = boost::math::quantile(complement(null, 1e-9));
    EXPECT_NEAR(cdf(complement(boost::math::non_central_chi_squared_distribution<double>(31, lambda), limit)), power,
                1e-9);
    if (power == 0.9) {
      EXPECT_NEAR(lambda, 99.2, 0.05);
    }
  }
}

}  // namespace
}  // namespace draftproof
