// Tests of control variates and of scrambled Sobol points.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <boost/random/sobol.hpp>

#include <draftproof/properties/statistics/control_variates.hpp>
#include <draftproof/properties/statistics/sobol.hpp>
#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof {
namespace {

double control_uniform(std::uint64_t seed, std::uint64_t sample, std::uint32_t slot) {
  return static_cast<double>(philox_pair(seed, sample, slot, 79).first) * 0x1p-64;
}

TEST(ControlVariates, CombinationsOfControlsAreKnownExactly) {
  ControlVariates average(3, 2);
  for (std::uint64_t i = 0; i < 400; ++i) {
    const double a = control_uniform(1, i, 0) - 0.5, b = control_uniform(1, i, 1) - 0.5;
    // The third control is the sum of the others.
    average.add(std::vector<double>{7 + 2 * a - b, 5 * b}, std::vector<double>{a, b, a + b});
  }
  const auto estimates = average.estimates();
  // The tolerance: coefficients have an error of 400 roundings times the condition number of a 2 x 2 system, and the
  // error of a mean is at most 5 times as large.
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
  // The centred indicators of the eight groups sum to zero, so they are linearly dependent.
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
  // The variance of u^2 within the eight groups is about 1/64 of its total variance, so controls reduce the standard
  // error to about 1/8. The test requires only a factor of 6, because the slope of u^2 differs between groups.
  EXPECT_LT(with.standard_error * 6, without.standard_error);
  EXPECT_NEAR(with.mean, 1.0 / 3, 6.2 * with.standard_error);  // fails with probability 1e-9 if the error is normal
}

TEST(ControlVariates, AControlThatNeverVariesInOneHalfGetsNoCoefficientThere) {
  // In one half the control is constant. Without a threshold on its variance, the coefficient would be the rounding
  // error of a large covariance divided by the rounding error of the variance.
  for (int samples = 60; samples < 140; ++samples) {
    ControlVariates average(1, 1);
    double sum = 0;
    for (int i = 0; i < samples; ++i) {
      const double outcome = i % 2 == 0 ? 1e6 + i : 1e6;
      sum += outcome;
      average.add(std::vector<double>{outcome}, std::vector<double>{i % 4 == 1 ? 0.9 : -0.1});
    }
    // The odd half determines no coefficient: its outcomes are equal, and their covariance is a rounding error below
    // 1e-7.
    EXPECT_NEAR(average.estimates()[0].mean, sum / samples, 1e-6) << samples;
  }
}

TEST(ControlVariates, IsUnbiasedAndItsErrorIsHonest) {
  // Averages 2000 small samples of a nonlinear outcome. Coefficients that were computed from the half to which they are
  // applied would cause a bias.
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
  EXPECT_NEAR(sum, truth, 6.2 * spread / std::sqrt(runs));  // fails with probability 1e-9 if the error is normal
  // The claimed variance, computed from the residuals, omits the variance of the coefficients. The omitted part is a
  // share d / n = 2 / 12, and twice as much with heavy tails.
  EXPECT_NEAR(claimed / (spread * spread), 1, 0.35);
}

TEST(Sobol, DigitsAreThoseOfBoostRandom) {
  // Boost's engine omits point 0 and numbers points by their Gray code.
  boost::random::sobol_engine<std::uint32_t, 32> engine(ScrambledSobol::max_dimensions);
  for (std::uint64_t n = 1; n < 3000; ++n)
    for (int d = 0; d < ScrambledSobol::max_dimensions; ++d)
      ASSERT_EQ(ScrambledSobol::digits(d, n ^ (n >> 1)), engine()) << n << " " << d;
}

/// Returns the largest number of the 2^m points from `start` on that lie in one elementary interval of `dimensions`
/// dimensions with volume 2^(t - m). In a (t, m, s)-net every such interval has 2^t points.
std::size_t fullest_interval(const ScrambledSobol& sobol, int dimensions, unsigned m, unsigned t,
                             std::uint64_t start) {
  const std::uint64_t points = std::uint64_t{1} << m;
  std::vector<std::array<std::uint64_t, ScrambledSobol::max_dimensions>> words(points);
  for (std::uint64_t i = 0; i < points; ++i) sobol.point(start + i, words[i]);
  std::size_t fullest = 0;
  std::vector<unsigned> digits(static_cast<std::size_t>(dimensions));
  const auto split = [&](auto&& self, std::size_t d, unsigned left) -> void {
    if (d + 1 < digits.size()) {
      for (digits[d] = 0; digits[d] <= left; ++digits[d]) self(self, d + 1, left - digits[d]);
      return;
    }
    digits[d] = left;
    std::vector<std::size_t> inside(std::size_t{1} << (m - t));
    for (const auto& point : words) {
      std::size_t interval = 0;
      for (std::size_t e = 0; e < digits.size(); ++e)
        interval = interval << digits[e] | (digits[e] == 0 ? 0 : point[e] >> (64 - digits[e]));
      fullest = std::max(fullest, ++inside[interval]);
    }
  };
  split(split, 0, m - t);
  return fullest;
}

TEST(Sobol, FirstDimensionsAreNets) {
  const unsigned quality[] = {0, 0, 1, 3};
  for (const std::uint64_t seed : {1ull, 2ull, 77ull})
    for (int dimensions = 1; dimensions <= 4; ++dimensions)
      for (const unsigned m : {5u, 10u}) {
        const ScrambledSobol sobol(dimensions, seed);
        const unsigned t = quality[dimensions - 1];
        EXPECT_EQ(fullest_interval(sobol, dimensions, m, t, 0), std::size_t{1} << t) << dimensions << " " << m;
        EXPECT_EQ(fullest_interval(sobol, dimensions, m, t, std::uint64_t{3} << m), std::size_t{1} << t);
      }
}

TEST(Sobol, EachDimensionIsStratifiedAndEachPointUniformOverSeeds) {
  const int dimensions = ScrambledSobol::max_dimensions;
  const ScrambledSobol sobol(dimensions, 5);
  std::array<std::uint64_t, ScrambledSobol::max_dimensions> words;
  std::vector<std::set<std::uint64_t>> strata(ScrambledSobol::max_dimensions);
  for (std::uint64_t i = 0; i < 1024; ++i) {
    sobol.point(i, words);
    for (std::size_t d = 0; d < words.size(); ++d) strata[d].insert(words[d] >> 54);
  }
  for (const auto& seen : strata) EXPECT_EQ(seen.size(), 1024u);
  // Over 4096 seeds, one point's counts in sixteen cells of a dimension are binomial with standard deviation 15.5. The
  // tolerance is 8 standard deviations (a false alarm has probability 1e-15 each).
  std::vector<std::array<int, 16>> cells(ScrambledSobol::max_dimensions);
  for (std::uint64_t seed = 0; seed < 4096; ++seed) {
    ScrambledSobol(dimensions, seed).point(6, words);
    for (std::size_t d = 0; d < words.size(); ++d) ++cells[d][words[d] >> 60];
  }
  for (const auto& row : cells)
    for (const int cell : row) EXPECT_NEAR(cell, 256, 8 * 15.5);
}

/// Returns a smooth function of mean 1 on the four-dimensional cube.
double smooth(std::span<const std::uint64_t> words) {
  double value = 1;
  for (std::size_t d = 0; d < 4; ++d)
    value *= 1 + (std::exp(static_cast<double>(words[d]) * 0x1p-64) - (std::exp(1.0) - 1)) / 2;
  return value;
}

TEST(Sobol, IntegratesASmoothFunctionFarBetterThanChance) {
  constexpr std::uint64_t points = 4096, seeds = 32;
  double sobol_square = 0, plain_square = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const ScrambledSobol sobol(4, seed);
    double sobol_sum = 0, plain_sum = 0;
    for (std::uint64_t i = 0; i < points; ++i) {
      std::array<std::uint64_t, 4> words;
      sobol.point(i, words);
      sobol_sum += smooth(words);
      for (std::uint32_t d = 0; d < 4; ++d) words[d] = philox_pair(seed, i, d, 78).first;
      plain_sum += smooth(words);
    }
    sobol_square += std::pow(sobol_sum / points - 1, 2) / seeds;
    plain_square += std::pow(plain_sum / points - 1, 2) / seeds;
  }
  // The variance of nets decreases like n^-3 up to logarithms: here it is 1e4 to 1e5 times smaller than of independent
  // points. With 32 seeds, noise cannot reduce this to a factor of a hundred.
  EXPECT_LT(sobol_square * 100, plain_square);
  RecordProperty("variance_ratio", std::to_string(plain_square / sobol_square));
}

TEST(Sobol, IsAFunctionOfItsSeed) {
  std::array<std::uint64_t, 2> one, same, other;
  ScrambledSobol(2, 9).point(100, one);
  ScrambledSobol(2, 9).point(100, same);
  ScrambledSobol(2, 10).point(100, other);
  EXPECT_EQ(one, same);
  EXPECT_NE(one, other);
}

}  // namespace
}  // namespace draftproof
