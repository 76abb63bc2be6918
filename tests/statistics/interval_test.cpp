// Clopper and Pearson against sums of exact binomial terms.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/statistics/interval.hpp>

namespace draftproof {
namespace {

/// Pr(X = k) for X binomial, by its definition in long double: n <= 30 keeps coefficients exact.
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

/// A limit p is computed to a few units of 2^-52 relative; the logarithm of a tail moves by at most n / (p (1 - p))
/// times as much as p does.
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
  // For every p, the probability of counts whose bound is on the wrong side of it: the definition of the level.
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
  // All of 30 accepted: p^30 = alpha.
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
  // Six standard deviations of 4.8e-6 on either side, about.
  EXPECT_NEAR(low, 0.75, 4e-5);
  EXPECT_NEAR(high, 0.75, 4e-5);
}

}  // namespace
}  // namespace draftproof
