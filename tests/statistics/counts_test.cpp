// Tests of confidence intervals of counts, of Poisson counts and of planned numbers of trials.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/properties/statistics/count_models.hpp>
#include <draftproof/properties/statistics/sample_size.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

/// Returns Pr(X = k) for a binomial X from the definition, in long double; the coefficients are exact for n <= 30.
long double term(int n, int k, long double p) {
  long double coefficient = 1;
  for (int i = 1; i <= k; ++i) coefficient = coefficient * (n - k + i) / i;
  return coefficient * std::pow(p, static_cast<long double>(k)) * std::pow(1 - p, static_cast<long double>(n - k));
}
long double tail(int n, int from, int to, long double p) {
  long double sum = 0;
  for (int k = from; k <= to; ++k) sum += term(n, k, p);
  return sum;
}

/// Returns the relative tolerance of a tail. A confidence limit p has an error of a few units of 2^-52; an error of p
/// changes the logarithm of a tail by at most n / (p (1 - p)) times as much.
double relative(int n, double p) { return 4 * 0x1p-52 * n / (1 - p); }

TEST(ClopperPearson, LimitsCutTailsOfHalfAlpha) {
  for (const int n : {1, 2, 5, 13, 30})
    for (const double alpha : {0.5, 0.05, 1e-3, 1e-6})
      for (int k = 0; k <= n; ++k) {
        const auto [low, high] = clopper_pearson(static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(n), alpha);
        ASSERT_LE(low, high);
        const long double half = alpha / 2.0L;
        if (k > 0) {
          EXPECT_NEAR(static_cast<double>(tail(n, k, n, low) / half), 1, relative(n, low)) << n << " " << k;
        }
        if (k < n) {
          EXPECT_NEAR(static_cast<double>(tail(n, 0, k, high) / half), 1, relative(n, high)) << n << " " << k;
        }
      }
}

TEST(ClopperPearson, CoversEveryProbabilityAsOftenAsItClaims) {
  constexpr double alpha = 0.1;
  for (const int n : {1, 4, 17})
    for (int i = 0; i <= 200; ++i) {
      const double p = i / 200.0;
      long double covered = 0;
      for (int k = 0; k <= n; ++k) {
        const auto [low, high] = clopper_pearson(static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(n), alpha);
        if (low <= p && p <= high) covered += term(n, k, p);
      }
      ASSERT_GE(covered, 1 - alpha - 1e-12) << "n " << n << " p " << p;
    }
}

TEST(ConfidenceBound, OneSidedOnesAreWrongAsRarelyAsTheyClaim) {
  // A bound has level alpha if for every p it is on the wrong side of p with probability at most alpha.
  for (const int n : {1, 5, 30})
    for (const double alpha : {0.05, alarm_level})
      for (int i = 1; i < 60; ++i) {
        const double p = i / 60.0;
        long double too_high = 0, too_low = 0;
        for (int k = 0; k <= n; ++k) {
          const auto successes = static_cast<std::uint64_t>(k), trials = static_cast<std::uint64_t>(n);
          if (lower_confidence_bound(successes, trials, alpha) > p) too_high += term(n, k, p);
          if (upper_confidence_bound(successes, trials, alpha) < p) too_low += term(n, k, p);
        }
        ASSERT_LE(too_high, alpha * (1 + 1e-9)) << n << " " << p;
        ASSERT_LE(too_low, alpha * (1 + 1e-9)) << n << " " << p;
      }
  EXPECT_EQ(lower_confidence_bound(0, 9), 0);
  EXPECT_EQ(upper_confidence_bound(9, 9), 1);
  EXPECT_EQ(lower_confidence_bound(0, 0), 0);
  EXPECT_EQ(upper_confidence_bound(0, 0), 1);
  // If all 30 trials are successes, the bound satisfies p^30 = alpha.
  EXPECT_NEAR(lower_confidence_bound(30, 30), std::pow(1e-9, 1.0 / 30), 1e-12);
}

TEST(ClopperPearson, EndsAreExactAtNothingAndEverything) {
  EXPECT_EQ(clopper_pearson(0, 10, 0.01).low, 0);
  EXPECT_LT(clopper_pearson(0, 10, 0.01).high, 1);
  EXPECT_EQ(clopper_pearson(10, 10, 0.01).high, 1);
  EXPECT_GT(clopper_pearson(10, 10, 0.01).low, 0);
}

TEST(ClopperPearson, KnowsNothingWithoutTrials) {
  const auto [low, high] = clopper_pearson(0, 0, 0.01);
  EXPECT_EQ(low, 0);
  EXPECT_EQ(high, 1);
}

TEST(ClopperPearson, StaysSaneAtBillionsOfTrialsAndTinyAlpha) {
  const std::uint64_t trials = 8'000'000'000, successes = 6'000'000'000;
  const auto [low, high] = clopper_pearson(successes, trials, 1e-9);
  EXPECT_LT(low, 0.75);
  EXPECT_GT(high, 0.75);
  // The limits are about six standard deviations (4.8e-6 each) from 0.75; the tolerance is eight.
  EXPECT_NEAR(low, 0.75, 4e-5);
  EXPECT_NEAR(high, 0.75, 4e-5);
}

// Tests of random batch sizes: their distribution, their draws, and values that every platform must reproduce.

/// Returns pmf(k), computed in long double as pmf(mean) times a product of ratios of adjacent terms.
long double pmf_by_product(std::uint64_t mean, std::uint64_t k) {
  const auto lambda = static_cast<long double>(mean);
  long double pmf = std::exp(lambda * std::log(lambda) - lambda - std::lgamma(lambda + 1));
  for (std::uint64_t i = mean + 1; i <= k; ++i) pmf *= lambda / static_cast<long double>(i);
  for (std::uint64_t i = mean; i > k; --i) pmf *= static_cast<long double>(i) / lambda;
  return pmf;
}

TEST(PoissonCount, DistributionIsNowhereAbovePoissonByMoreThanStated) {
  for (const std::uint64_t mean : {1ull, 2ull, 7ull, 100ull, 4096ull, 1ull << 20}) {
    std::map<std::uint64_t, std::uint64_t> masses;
    std::uint64_t total = 0;
    for_each_poisson_mass(mean, [&](std::uint64_t k, std::uint64_t mass) {
      EXPECT_TRUE(masses.emplace(k, mass).second) << k << " twice";
      EXPECT_GT(mass, 0u) << k;
      total += mass;
      return true;
    });
    ASSERT_LT(total, std::uint64_t{1} << 62);
    ASSERT_GT(total, (std::uint64_t{1} << 62) / 3) << "too many words are thrown away";
    const auto lambda = static_cast<long double>(mean);
    // The terms of the exponent in pmf(mean) have a size of about lambda (1 + log lambda) and are rounded to 64 bits.
    const long double reference = 0x1p-61L * (lambda * (1 + std::log(lambda)) + 100);
    // The bound on the relative error of a mass is derived in count_models.hpp.
    const long double epsilon = (10 * std::sqrt(lambda) + 40) * (0x1p-51L + 0x1p-59L) + 0x1p-55L;
    const long double bound = 1 + epsilon + reference;
    const std::uint64_t step = mean > 10000 ? 509 : 1;
    for (const auto& [k, mass] : masses)
      if (k % step == 0) {
        ASSERT_LE(static_cast<long double>(mass) / static_cast<long double>(total), pmf_by_product(mean, k) * bound)
            << "mean " << mean << " k " << k;
      }
    // Only an excess over the Poisson mass is tested. The masses sum to 1, so in total variation they are below it by
    // at most as much as they are above it.
    EXPECT_EQ(masses.size(), masses.rbegin()->first - masses.begin()->first + 1);
  }
}

TEST(PoissonCount, DrawsFollowTheDistribution) {
  // By the inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant, sqrt(draws) times the largest
  // distance between the distribution functions exceeds this limit with probability at most 1e-9, for any distribution
  // and any number of draws.
  const double limit = std::sqrt(std::log(2 / 1e-9) / 2);
  constexpr std::uint64_t draws = 40000, seed = 20;
  for (const std::uint64_t mean : {1ull, 5ull, 300ull}) {
    std::vector<std::uint64_t> drawn(draws);
    for (std::uint64_t i = 0; i < draws; ++i) drawn[i] = poisson_count(mean, seed, i);
    std::sort(drawn.begin(), drawn.end());
    long double reached = 0, furthest = 0;
    for (std::uint64_t k = 0; k < 2 * mean + 40; ++k) {
      reached += std::exp(static_cast<long double>(k) * std::log(static_cast<long double>(mean)) -
                          static_cast<long double>(mean) - std::lgamma(static_cast<long double>(k + 1)));
      const auto below = std::upper_bound(drawn.begin(), drawn.end(), k) - drawn.begin();
      furthest = std::max(furthest, std::abs(static_cast<long double>(below) / draws - reached));
    }
    EXPECT_LT(static_cast<double>(furthest) * std::sqrt(static_cast<double>(draws)), limit) << "mean " << mean;
  }
}

TEST(PoissonCount, IsTheSameEverywhere) {
  // An implementation in another language computed these values.
  EXPECT_EQ(poisson_count(1, 7, 0), 0u);
  EXPECT_EQ(poisson_count(3, 7, 1), 2u);
  EXPECT_EQ(poisson_count(1000, 7, 2), 1036u);
  EXPECT_EQ(poisson_count(4096, 1, 3), 4126u);
  EXPECT_EQ(poisson_count(1 << 20, 1, 4), 1049195u);
  EXPECT_EQ(poisson_count(123456789, 99, 5), 123451523u);
}

TEST(PoissonCount, NothingPlannedIsNothingRun) { EXPECT_EQ(poisson_count(0, 1, 1), 0u); }

// Tests that compare planned numbers of trials with values of another program, and with the true power of the
// statistic.

std::vector<double> zipf_distribution(std::size_t vocabulary) {
  std::vector<double> distribution(vocabulary);
  for (std::size_t i = 0; i < vocabulary; ++i) distribution[i] = std::pow(static_cast<double>(i) + 2.7, -1.1);
  return examples::normalised(distribution);
}

TEST(SampleSize, ReproducesTheReferenceTable) {
  // The reference table states 2/3-norms with three digits and log2 of the number of trials with one decimal, for a
  // power of 0.9.
  struct Row {
    std::size_t vocabulary;
    double norm, distance, log2_trials;
  };
  for (const Row& row : {Row{1000, 19.7, 0.05, 14.3}, Row{1000, 19.7, 0.001, 25.6}, Row{32000, 71.7, 0.01, 20.8},
                         Row{32000, 71.7, 0.003, 24.3}, Row{32000, 71.7, 0.001, 27.5}, Row{128256, 120, 0.001, 28.2},
                         Row{262144, 157, 0.001, 28.6}}) {
    const double norm = two_thirds_norm(zipf_distribution(row.vocabulary));
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

}  // namespace
}  // namespace draftproof
