// The bet against one cell: its definition in long double, and its mean under the null by direct summation.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/statistics/e_single_cell.hpp>
#include <draftproof/statistics/gamma_poisson.hpp>
#include <draftproof/statistics/impossible_cells.hpp>

namespace draftproof {
namespace {

/// lgamma(a + X) - lgamma(a) - X log a as a sum, without lgamma.
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
        // The rounding of the direct form: 2^-64 of each of its terms, a hundred thousand of them.
        const double direct =
            0x1p-62 * static_cast<double>(mean + (shape + count) * std::log1p(mean / shape) + count);
        EXPECT_NEAR(static_cast<double>(log_gamma_poisson(count, mean, shape) - wanted), 0, bound + direct)
            << "X " << count << " E " << mean << " a " << shape;
        ++compared;
      }
  EXPECT_EQ(compared, 12 * 7 * 11);
}

/// Sum over counts of Pr(X) exp(f(X)), X Poisson; the omitted rest is below 1e-15 for the bets and means used here.
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
  // Given 7 counts at mean 5, one more batch of mean 4 leaves the expectation of e where it was.
  const double before = std::exp(log_gamma_poisson(7, 5, 2.5));
  EXPECT_NEAR(static_cast<double>(poisson_mean(4, [](int x) { return log_gamma_poisson(7 + x, 9, 2.5); })), before,
              1e-12 * before);
}

TEST(Spikes, HaveMeanOneAndAreTheAverageOfTheirCells) {
  // Shape 0.1 makes the sum converge like (E / (E + 0.1))^x: small means.
  for (const double mean : {0.01, 0.5})
    EXPECT_NEAR(static_cast<double>(poisson_mean(mean, [&](int x) { return log_e_spike(x, mean); })), 1, 1e-12);
  const std::vector<double> law{0.5, 0.25, 0, 0.25};
  const std::vector<std::uint64_t> counts{40, 70, 0, 22};
  const double mean =
      (std::exp(log_e_spike(40, 50)) + std::exp(log_e_spike(70, 25)) + std::exp(log_e_spike(22, 25))) / 3;
  EXPECT_NEAR(log_e_single_cell(law, counts, 100), std::log(mean), 1e-12);
  EXPECT_TRUE(std::isinf(log_e_single_cell(law, std::vector<std::uint64_t>{40, 70, 1, 22}, 100)));
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

}  // namespace
}  // namespace draftproof
