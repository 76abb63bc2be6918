// Tests of the e-values of single cells and of tables, and of the Dirichlet-multinomial (urn) bet.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/properties/statistics/count_models.hpp>
#include <draftproof/properties/statistics/e_table.hpp>
#include <draftproof/properties/statistics/row_groups.hpp>
#include <draftproof/properties/statistics/weighted_cells.hpp>
#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof {
namespace {

/// Returns the logarithm of the gamma-Poisson e-value, with lgamma(a + X) - lgamma(a) - X log a computed as a sum of
/// logarithms.
long double direct_log_e(int count, long double mean, long double shape) {
  long double rising = 0;
  for (int j = 1; j < count; ++j) rising += std::log1p(j / shape);
  return rising - (shape + count) * std::log1p(mean / shape) + mean;
}

TEST(GammaPoisson, EqualsItsDefinitionWithinTheStatedError) {
  int compared = 0;
  for (const double shape : {1e-12, 1e-4, 0.3, 1.0, 7.5, 15.9, 16.0, 300.0, 9.9e5, 1.1e6, 1e10, 1e16})
    for (const double mean : {1e-9, 0.02, 1.0, 31.5, 200.0, 5e3, 1.1e5})
      for (const int count : {0, 1, 2, 3, 31, 32, 33, 34, 180, 5000, 100000}) {
        const long double wanted = direct_log_e(count, mean, shape);
        const double slope = std::log1p((count + mean) / shape) * std::clamp(count, 1, 48);
        const double off = std::abs(count - mean);
        const double bound = 8 * 0x1p-53 * (off * (1 + std::log1p(off / (shape + mean))) + 40 + slope);
        // The reference value sums up to a hundred thousand logarithms, each rounded with relative error 2^-64.
        const double direct =
            0x1p-62 * static_cast<double>(mean + (shape + count) * std::log1p(mean / shape) + count);
        EXPECT_NEAR(static_cast<double>(log_gamma_poisson(count, mean, shape) - wanted), 0, bound + direct)
            << "X " << count << " E " << mean << " a " << shape;
        ++compared;
      }
  EXPECT_EQ(compared, 12 * 7 * 11);
}

/// Returns the mean of exp(f(X)) for Poisson X, over the counts below 600. The omitted terms sum to less than 1e-15 for
/// the bets and means used here.
template <class F>
long double poisson_mean(long double mean, F&& log_f) {
  long double total = 0;
  for (int count = 0; count < 600; ++count)
    total +=
        std::exp(count * std::log(mean) - mean - std::lgamma(static_cast<long double>(count + 1)) + log_f(count));
  return total;
}

TEST(GammaPoisson, HasMeanOneUnderTheNull) {
  for (const double mean : {0.01, 1.0, 20.0})
    for (const double shape : {3.0, 40.0, 1e7})
      EXPECT_NEAR(static_cast<double>(poisson_mean(mean, [&](int x) { return log_gamma_poisson(x, mean, shape); })),
                  1, 1e-12)
          << mean << " " << shape;
}

TEST(GammaPoisson, IsAMartingaleOverBatches) {
  // After a count of 7 at mean 5, the expectation of e after one more batch of mean 4 equals the current e.
  const double before = std::exp(log_gamma_poisson(7, 5, 2.5));
  EXPECT_NEAR(static_cast<double>(poisson_mean(4, [](int x) { return log_gamma_poisson(7 + x, 9, 2.5); })), before,
              1e-12 * before);
}

TEST(Spikes, HaveMeanOneAndAreTheAverageOfTheirCells) {
  // With shape 0.1 the terms decrease like (E / (E + 0.1))^x, so for small means E the counts from 600 on contribute
  // nothing.
  for (const double mean : {0.01, 0.5})
    EXPECT_NEAR(static_cast<double>(poisson_mean(mean, [&](int x) { return log_e_spike(x, mean); })), 1, 1e-12);
  const std::vector<double> distribution{0.5, 0.25, 0, 0.25};
  const std::vector<std::uint64_t> counts{40, 70, 0, 22};
  const double mean =
      (std::exp(log_e_spike(40, 50)) + std::exp(log_e_spike(70, 25)) + std::exp(log_e_spike(22, 25))) / 3;
  EXPECT_NEAR(log_e_single_cell(distribution, counts, 100), std::log(mean), 1e-12);
  EXPECT_TRUE(std::isinf(log_e_single_cell(distribution, std::vector<std::uint64_t>{40, 70, 1, 22}, 100)));
}

TEST(Leak, HasMeanAtMostOneForEveryMeanUpToTheBudget) {
  const double budget = 1e-6, exposure = 3e5;
  const auto mean = [&](double truth) {
    return static_cast<double>(poisson_mean(
        truth, [&](int x) { return log_e_impossible_cells(static_cast<std::uint64_t>(x), exposure, budget); }));
  };
  EXPECT_NEAR(mean(exposure * budget), 1, 1e-9);
  for (const double share : {0.01, 0.5, 0.99}) EXPECT_LT(mean(share * exposure * budget), 1);
  EXPECT_GT(mean(1.1 * exposure * budget), 1);
}

// Tests of the e-value of a table against its definition, and of its mean under the null hypothesis.

/// Returns the logarithm of the e-value from its definition, the mean of 44 members (4 values of kappa, 11 of c), cell
/// by cell, with products in place of lgamma.
long double defined_log_e(const std::vector<double>& distribution, const std::vector<std::uint64_t>& counts,
                          double exposure) {
  std::vector<long double> members;
  long double live = 0;
  for (const double w : distribution) live += w > 0;
  for (const long double kappa : {0.0L, 1 / 3.0L, 2 / 3.0L, 1.0L}) {
    long double mean = 0;
    for (const double w : distribution) mean += w > 0 ? std::pow(static_cast<long double>(w), kappa) / live : 0;
    for (long double c = 1; c < 2e10L; c *= 10) {
      long double sum = 0;
      for (std::size_t i = 0; i < distribution.size(); ++i) {
        if (distribution[i] == 0) continue;
        const auto w = static_cast<long double>(distribution[i]), x = static_cast<long double>(counts[i]);
        const long double a = c * std::pow(w, kappa) / mean, e = static_cast<long double>(exposure) * w;
        for (std::uint64_t j = 1; j < counts[i]; ++j) sum += std::log1p(static_cast<long double>(j) / a);
        sum += e - (a + x) * std::log1p(e / a);
      }
      members.push_back(sum);
    }
  }
  const long double largest = *std::max_element(members.begin(), members.end());
  long double total = 0;
  for (const long double member : members) total += std::exp(member - largest);
  return largest + std::log(total / static_cast<long double>(members.size()));
}

TEST(ETable, EqualsItsDefinition) {
  // With nearly equal probabilities and small counts, CellShortener replaces most cells.
  for (const double spread : {0.0, 0.3, 12.0})
    for (const double exposure : {300.0, 2000.0, 20000.0}) {
      std::vector<double> distribution(1500);
      std::vector<std::uint64_t> counts(distribution.size());
      double sum = 0;
      for (std::size_t i = 0; i < distribution.size(); ++i)
        sum += distribution[i] =
            std::exp(-spread * static_cast<double>(i) / static_cast<double>(distribution.size()));
      for (double& w : distribution) w /= sum;
      double off = 0;
      for (std::size_t i = 0; i < distribution.size(); ++i) {
        // Counts lie between 0 and twice the mean.
        const double share = static_cast<double>(philox_pair(5, i, 0, 1).first) * 0x1p-63;
        counts[i] = static_cast<std::uint64_t>(std::floor(exposure * distribution[i] * share + 0.5));
        off += std::abs(static_cast<double>(counts[i]) - exposure * distribution[i]);
      }
      distribution[7] = 0;
      counts[7] = 0;
      // Per cell, the error is at most the bound of count_models.hpp plus CellShortener's 5e-16 M, where M = 10 (X + E)
      // for a cell with count X and mean E (weighted_cells.hpp).
      const double bound = 8 * 0x1p-53 * (off + 40 * 1500) * 12 + 5e-15 * 3 * exposure;
      ASSERT_LT(bound, 1e-8);
      EXPECT_NEAR(ETable(distribution).log_e(counts, exposure),
                  static_cast<double>(defined_log_e(distribution, counts, exposure)), bound)
          << spread << " " << exposure;
    }
}

TEST(ETable, HasMeanOneUnderTheNull) {
  // There are two Poisson cells. Counts from 160 on are omitted; their weight is below 0.75^160 in the member with the
  // largest bets.
  const std::vector<double> distribution{0.75, 0.25};
  const ETable table(distribution);
  for (const double exposure : {0.5, 4.0}) {
    const auto pmf = [&](double mean, int k) { return k * std::log(mean) - mean - std::lgamma(k + 1.0); };
    double mean = 0;
    for (int x = 0; x < 160; ++x)
      for (int y = 0; y < 160; ++y) {
        const std::vector<std::uint64_t> counts{static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y)};
        mean += std::exp(pmf(0.75 * exposure, x) + pmf(0.25 * exposure, y) + table.log_e(counts, exposure));
      }
    EXPECT_NEAR(mean, 1, 1e-11) << exposure;
  }
}

TEST(ETable, CountsInImpossibleCellsAreProofs) {
  const ETable table(std::vector<double>{0.5, 0, 0.5});
  EXPECT_TRUE(std::isinf(table.log_e(std::vector<std::uint64_t>{5, 1, 5}, 10)));
  EXPECT_LT(table.log_e(std::vector<std::uint64_t>{5, 0, 5}, 10), 0);
  EXPECT_EQ(table.log_e(std::vector<std::uint64_t>{0, 0, 0}, 0), 0);
}

TEST(ETable, TinyProbabilitiesKeepEValuesFinite) {
  const ETable table(std::vector<double>{1, 1e-300, 5e-324});
  const double log_e = table.log_e(std::vector<std::uint64_t>{1000, 2, 0}, 1000);
  EXPECT_TRUE(std::isfinite(log_e));
  EXPECT_GT(log_e, 20.7);
}

TEST(ETable, DoesNotDependOnTheOrderOfCells) {
  std::vector<double> distribution{0.1, 0.2, 0.3, 0.4}, reversed{0.4, 0.3, 0.2, 0.1};
  EXPECT_EQ(ETable(distribution).log_e(std::vector<std::uint64_t>{3, 9, 8, 20}, 40),
            ETable(reversed).log_e(std::vector<std::uint64_t>{20, 8, 9, 3}, 40));
}

TEST(MassGroups, HaveAboutEqualMassAndFollowTheKey) {
  std::vector<double> p(6400, 1.0 / 6400), key(6400);
  for (std::size_t x = 0; x < key.size(); ++x) key[x] = static_cast<double>(philox_pair(1, x, 0, 1).first);
  const auto group = mass_groups(key, p);
  for (const double mass : folded(group, p)) EXPECT_NEAR(mass, 1.0 / 32, 1.0 / 6400);
  for (std::size_t x = 1; x < key.size(); ++x)
    EXPECT_EQ(key[x - 1] <= key[x], group[x - 1] <= group[x] && key[x - 1] <= key[x]);
  // The midpoints of the intervals of cumulative mass, computed by hand, are 1/4, 5/8, 13/16 and 15/16.
  EXPECT_EQ(mass_groups(std::vector<double>{1, 2, 3, 3}, std::vector<double>{0.5, 0.25, 0.125, 0.125}, 4),
            (std::vector<std::uint32_t>{1, 2, 3, 3}));
  EXPECT_TRUE(std::isinf(ratio_key(std::vector<double>{0.5}, std::vector<double>{0})[0]));
}

// Tests that shortening a table preserves the sums of smooth functions over its cells.

TEST(WeightedCells, KeepSumsOfFunctionsThatAreAnalyticForPositiveProbabilities) {
  std::vector<double> distribution;
  for (int i = 0; i < 6000; ++i) distribution.push_back(1e-4 * std::exp(i / 1500.0));
  std::vector<std::uint64_t> counts;
  for (std::size_t i = 0; i < distribution.size(); ++i) counts.push_back(i % 3);
  const WeightedCells cells = CellShortener(distribution).shorten(counts);
  ASSERT_LT(cells.size(), distribution.size() / 2);
  for (const int function : {0, 1, 2, 3}) {
    const auto value = [&](double w, double count) {
      return function == 0 ? 1 : function == 1 ? count * w : function == 2 ? std::log(w) : (count + 1) * 1e-4 / w;
    };
    long double direct = 0, size = 0, shortened = 0;
    for (std::size_t i = 0; i < distribution.size(); ++i) {
      direct += value(distribution[i], static_cast<double>(counts[i]));
      size += std::abs(value(distribution[i], static_cast<double>(counts[i])));
    }
    for (std::size_t i = 0; i < cells.size(); ++i)
      shortened += cells.weight[i] * value(cells.probability[i], cells.count[i]);
    // Bernstein's bound is 5e-16 M, where M is the largest absolute value of the function on an ellipse around a run
    // (weighted_cells.hpp). For 1 / w, M is up to eleven times a value of the function; roundings of weights and nodes
    // add as much.
    EXPECT_NEAR(static_cast<double>((shortened - direct) / size), 0, 1.2e-14) << function;
  }
}

TEST(WeightedCells, LeaveFewCellsAndLargeCountsAlone) {
  const std::vector<double> distribution{0.1, 0.1, 0.1, 0.2, 0.5};
  const std::vector<std::uint64_t> counts{4, 4, 4, 900, 1};
  const WeightedCells cells = CellShortener(distribution).shorten(counts);
  EXPECT_EQ(cells.probability, distribution);
  EXPECT_EQ(cells.weight, std::vector<double>(5, 1));
  EXPECT_EQ(cells.count, (std::vector<double>{4, 4, 4, 900, 1}));
}

// Tests that the urn bet has mean 1 over all outcomes, and grows if tokens do not follow the distribution.

TEST(DirichletMultinomial, HasMeanOneOverAllOutcomes) {
  const std::vector<double> distribution{0.5, 0.3, 0.15, 0.05};
  const std::uint64_t n = 9;
  double mean = 0;
  for (std::uint64_t a = 0; a <= n; ++a)
    for (std::uint64_t b = 0; a + b <= n; ++b)
      for (std::uint64_t c = 0; a + b + c <= n; ++c) {
        const std::vector<std::uint64_t> counts{a, b, c, n - a - b - c};
        double log_probability = std::lgamma(static_cast<double>(n) + 1);
        for (std::size_t x = 0; x < distribution.size(); ++x)
          log_probability += static_cast<double>(counts[x]) * std::log(distribution[x]) -
                             std::lgamma(static_cast<double>(counts[x]) + 1);
        mean += std::exp(log_probability + log_e_multinomial(distribution, counts));
      }
  // Each of the 220 outcomes and 11 bets rounds a few dozen times; lgamma loses digits by cancellation at strength
  // 4^10.
  EXPECT_NEAR(mean, 1, 1e-8);
}

TEST(DirichletMultinomial, KnowsProofsAndNothing) {
  const std::vector<double> distribution{1, 0};
  EXPECT_EQ(log_e_multinomial(distribution, std::vector<std::uint64_t>{0, 0}), 0);
  EXPECT_NEAR(log_e_multinomial(distribution, std::vector<std::uint64_t>{1000, 0}), 0, 1e-6);
  EXPECT_TRUE(std::isinf(log_e_multinomial(distribution, std::vector<std::uint64_t>{1000, 1})));
}

TEST(DirichletMultinomial, GrowsWithTheEvidence) {
  const std::vector<double> distribution{0.5, 0.5};
  EXPECT_LT(log_e_multinomial(distribution, std::vector<std::uint64_t>{5030, 4970}), 0);
  const double some = log_e_multinomial(distribution, std::vector<std::uint64_t>{5200, 4800});
  const double more = log_e_multinomial(distribution, std::vector<std::uint64_t>{52'000, 48'000});
  EXPECT_GT(some, 3);
  EXPECT_GT(more, 60);
}

}  // namespace
}  // namespace draftproof
