// Batch sizes: their law against Poisson's in long double, the draws against that law, and numbers that every
// platform must reproduce.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/statistics/poisson_count.hpp>

namespace draftproof {
namespace {

/// pmf(k) from pmf(mean) by a product in long double.
long double pmf_by_product(std::uint64_t mean, std::uint64_t k) {
  const auto lambda = static_cast<long double>(mean);
  long double pmf = std::exp(lambda * std::log(lambda) - lambda - std::lgamma(lambda + 1));
  for (std::uint64_t i = mean + 1; i <= k; ++i) pmf *= lambda / static_cast<long double>(i);
  for (std::uint64_t i = mean; i > k; --i) pmf *= static_cast<long double>(i) / lambda;
  return pmf;
}

TEST(PoissonCount, LawIsNowhereAbovePoissonByMoreThanStated) {
  for (const std::uint64_t mean : {1ull, 2ull, 7ull, 100ull, 4096ull, 1ull << 20}) {
    std::map<std::uint64_t, std::uint64_t> masses;
    std::uint64_t total = 0;
    for_each_poisson_mass(mean, [&](std::uint64_t k, std::uint64_t mass) {
      EXPECT_TRUE(masses.emplace(k, mass).second) << k << " twice";
      total += mass;
      return true;
    });
    ASSERT_LT(total, std::uint64_t{1} << 62);
    ASSERT_GT(total, (std::uint64_t{1} << 62) / 3) << "too many words are thrown away";
    const auto lambda = static_cast<long double>(mean);
    // Terms of the exponent in pmf(mean) are about lambda (1 + log lambda) large, and rounded to 64 bits.
    const long double reference = 0x1p-61L * (lambda * (1 + std::log(lambda)) + 100);
    const long double bound = 1 + static_cast<long double>(poisson_count_excess(mean)) + reference;
    const std::uint64_t step = mean > 10000 ? 509 : 1;
    for (const auto& [k, mass] : masses)
      if (k % step == 0) {
        ASSERT_LE(static_cast<long double>(mass) / static_cast<long double>(total), pmf_by_product(mean, k) * bound)
            << "mean " << mean << " k " << k;
      }
    // The masses sum to one and never exceed by more than the bound, so the deficit is at most as large in total
    // variation.
    EXPECT_EQ(masses.size(), masses.rbegin()->first - masses.begin()->first + 1);
  }
}

TEST(PoissonCount, DrawsFollowTheLaw) {
  // Dvoretzky, Kiefer and Wolfowitz with Massart's constant: the distance exceeds this with probability 1e-9 at most,
  // for any law and any number of draws.
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
  // From an implementation in another language.
  EXPECT_EQ(poisson_count(1, 7, 0), 0u);
  EXPECT_EQ(poisson_count(3, 7, 1), 2u);
  EXPECT_EQ(poisson_count(1000, 7, 2), 1036u);
  EXPECT_EQ(poisson_count(4096, 1, 3), 4126u);
  EXPECT_EQ(poisson_count(1 << 20, 1, 4), 1049195u);
  EXPECT_EQ(poisson_count(123456789, 99, 5), 123451523u);
}

TEST(PoissonCount, NothingPlannedIsNothingRun) { EXPECT_EQ(poisson_count(0, 1, 1), 0u); }

}  // namespace
}  // namespace draftproof
