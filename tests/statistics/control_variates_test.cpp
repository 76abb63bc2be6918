// Control variates: exact if the outcome is a combination of controls, otherwise unbiased with correct standard
// errors.
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/sim/random/philox4x32.hpp>
#include <draftproof/statistics/control_variates.hpp>

namespace draftproof {
namespace {

double control_uniform(std::uint64_t seed, std::uint64_t sample, std::uint32_t slot) {
  return static_cast<double>(philox_pair(seed, sample, slot, 79).first) * 0x1p-64;
}

TEST(ControlVariates, CombinationsOfControlsAreKnownExactly) {
  ControlVariates average(3, 2);
  for (std::uint64_t i = 0; i < 400; ++i) {
    const double a = control_uniform(1, i, 0) - 0.5, b = control_uniform(1, i, 1) - 0.5;
    // The third control is a combination of the others.
    average.add(std::vector<double>{7 + 2 * a - b, 5 * b}, std::vector<double>{a, b, a + b});
  }
  const auto estimates = average.estimates();
  // Coefficients have errors of the condition of a 2 x 2 system times 400 roundings; means have at most 5 times that.
  EXPECT_NEAR(estimates[0].mean, 7, 1e-11);
  EXPECT_NEAR(estimates[1].mean, 0, 1e-11);
  EXPECT_LT(estimates[0].standard_error, 1e-7);
}

TEST(ControlVariates, WithoutControlsItIsTheMeanAndItsError) {
  ControlVariates average(0, 1);
  double sum = 0, squares[2] = {0, 0}, halves[2] = {0, 0};
  for (std::uint64_t i = 0; i < 10; ++i) {
    const double y = control_uniform(2, i, 0);
    average.add(std::vector<double>{y}, {});
    sum += y;
    halves[i % 2] += y;
    squares[i % 2] += y * y;
  }
  const auto estimate = average.estimates()[0];
  EXPECT_NEAR(estimate.mean, sum / 10, 1e-15);
  double variance = 0;
  for (int h = 0; h < 2; ++h) variance += (squares[h] - halves[h] * halves[h] / 5) / 4 * 5 / 100;
  EXPECT_NEAR(estimate.standard_error, std::sqrt(variance), 1e-14);
}

TEST(ControlVariates, IndicatorsOfAllGroupsAreNoObstacle) {
  // Eight groups of one draw, centred: they sum to zero.
  ControlVariates average(8, 1), plain(0, 1);
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double u = control_uniform(3, i, 0), noise = control_uniform(3, i, 1) - 0.5;
    std::vector<double> groups(8, -1.0 / 8);
    groups[static_cast<std::size_t>(u * 8)] += 1;
    const std::vector<double> outcome{u * u + 0.01 * noise};
    average.add(outcome, groups);
    plain.add(outcome, {});
  }
  const auto with = average.estimates()[0], without = plain.estimates()[0];
  // The within-group variance of u^2 is about 1/64 of the whole: an eighth of the error, including the spread of the
  // slope of u^2.
  EXPECT_LT(with.standard_error * 6, without.standard_error);
  EXPECT_NEAR(with.mean, 1.0 / 3, 6.2 * with.standard_error);  // 1e-9 for a normal mean
}

TEST(ControlVariates, AControlThatNeverVariesInOneHalfGetsNoCoefficientThere) {
  // Without a threshold, the rounding error of a variance would divide the rounding error of a large covariance.
  for (int samples = 60; samples < 140; ++samples) {
    ControlVariates average(1, 1);
    double sum = 0;
    for (int i = 0; i < samples; ++i) {
      const double outcome = i % 2 == 0 ? 1e6 + i : 1e6;
      sum += outcome;
      average.add(std::vector<double>{outcome}, std::vector<double>{i % 4 == 1 ? 0.9 : -0.1});
    }
    // The odd half has no information either: its outcomes are equal, and their covariance is below 1e-7.
    EXPECT_NEAR(average.estimates()[0].mean, sum / samples, 1e-6) << samples;
  }
}

TEST(ControlVariates, IsUnbiasedAndItsErrorIsHonest) {
  // 2000 small averages with a nonlinear outcome: using the coefficients' own half would cause a bias.
  constexpr int runs = 2000, samples = 24;
  double sum = 0, square = 0, claimed = 0;
  for (int run = 0; run < runs; ++run) {
    ControlVariates average(2, 1);
    for (int i = 0; i < samples; ++i) {
      const double a = control_uniform(4, static_cast<std::uint64_t>(run), static_cast<std::uint32_t>(2 * i));
      const double b = control_uniform(4, static_cast<std::uint64_t>(run), static_cast<std::uint32_t>(2 * i + 1));
      average.add(std::vector<double>{std::exp(a) + (a - 0.5) * (a - 0.5) * 30 * b},
                  std::vector<double>{a - 0.5, (a - 0.5) * (a - 0.5) - 1.0 / 12});
    }
    const auto estimate = average.estimates()[0];
    sum += estimate.mean / runs;
    square += estimate.mean * estimate.mean / runs;
    claimed += estimate.standard_error * estimate.standard_error / runs;
  }
  const double truth = std::exp(1.0) - 1 + 30.0 / 24, spread = std::sqrt(square - sum * sum);
  EXPECT_NEAR(sum, truth, 6.2 * spread / std::sqrt(runs));  // 1e-9 for a normal mean
  // The residual variance omits the noise of the coefficients, d / n of it: 2 / 12 here, twice that with heavy tails.
  EXPECT_NEAR(claimed / (spread * spread), 1, 0.35);
}

}  // namespace
}  // namespace draftproof
