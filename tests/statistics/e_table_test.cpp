// The e-value of a table: against its definition summed in long double, and its mean under the null by enumeration.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/sim/random/philox4x32.hpp>
#include <draftproof/statistics/e_table.hpp>
#include <draftproof/statistics/mass_groups.hpp>

namespace draftproof {
namespace {

/// The 44 members as they are defined, cell by cell, with rising factors in place of lgammas.
long double defined_log_e(const std::vector<double>& law, const std::vector<std::uint64_t>& counts, double exposure) {
  std::vector<long double> members;
  long double live = 0;
  for (const double w : law) live += w > 0;
  for (const long double kappa : {0.0L, 1 / 3.0L, 2 / 3.0L, 1.0L}) {
    long double mean = 0;
    for (const double w : law) mean += w > 0 ? std::pow(static_cast<long double>(w), kappa) / live : 0;
    for (long double c = 1; c < 2e10L; c *= 10) {
      long double sum = 0;
      for (std::size_t i = 0; i < law.size(); ++i) {
        if (law[i] == 0) continue;
        const auto w = static_cast<long double>(law[i]), x = static_cast<long double>(counts[i]);
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
  // Nearly equal probabilities and small counts: most cells go through the shortener.
  for (const double spread : {0.0, 0.3, 12.0})
    for (const double exposure : {300.0, 2000.0, 20000.0}) {
      std::vector<double> law(1500);
      std::vector<std::uint64_t> counts(law.size());
      double sum = 0;
      for (std::size_t i = 0; i < law.size(); ++i)
        sum += law[i] = std::exp(-spread * static_cast<double>(i) / static_cast<double>(law.size()));
      for (double& w : law) w /= sum;
      double off = 0;
      for (std::size_t i = 0; i < law.size(); ++i) {
        // About the mean, from 0 to twice as much.
        const double share = static_cast<double>(philox_pair(5, i, 0, 1).first) * 0x1p-63;
        counts[i] = static_cast<std::uint64_t>(std::floor(exposure * law[i] * share + 0.5));
        off += std::abs(static_cast<double>(counts[i]) - exposure * law[i]);
      }
      law[7] = 0;
      counts[7] = 0;
      // Per cell the bound of gamma_poisson.hpp and ten times 5e-16 of X + E from the shortener.
      const double bound = 8 * 0x1p-53 * (off + 40 * 1500) * 12 + 5e-15 * 3 * exposure;
      ASSERT_LT(bound, 1e-8);
      EXPECT_NEAR(ETable(law).log_e(counts, exposure), static_cast<double>(defined_log_e(law, counts, exposure)),
                  bound)
          << spread << " " << exposure;
    }
}

TEST(ETable, HasMeanOneUnderTheNull) {
  // Two Poisson cells, all counts below 160: the omitted rest has weight below 0.75^160 in the boldest member.
  const std::vector<double> law{0.75, 0.25};
  const ETable table(law);
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
  std::vector<double> law{0.1, 0.2, 0.3, 0.4}, reversed{0.4, 0.3, 0.2, 0.1};
  EXPECT_EQ(ETable(law).log_e(std::vector<std::uint64_t>{3, 9, 8, 20}, 40),
            ETable(reversed).log_e(std::vector<std::uint64_t>{20, 8, 9, 3}, 40));
}

TEST(MassGroups, HaveAboutEqualMassAndFollowTheKey) {
  std::vector<double> p(6400, 1.0 / 6400), key(6400);
  for (std::size_t x = 0; x < key.size(); ++x) key[x] = static_cast<double>(philox_pair(1, x, 0, 1).first);
  const auto group = mass_groups(key, p);
  for (const double mass : folded(group, p)) EXPECT_NEAR(mass, 1.0 / 32, 1.0 / 6400);
  for (std::size_t x = 1; x < key.size(); ++x)
    EXPECT_EQ(key[x - 1] <= key[x], group[x - 1] <= group[x] && key[x - 1] <= key[x]);
  // By hand: mid-masses 1/4, 5/8, 13/16, 15/16 over four groups.
  EXPECT_EQ(mass_groups(std::vector<double>{1, 2, 3, 3}, std::vector<double>{0.5, 0.25, 0.125, 0.125}, 4),
            (std::vector<std::uint32_t>{1, 2, 3, 3}));
  EXPECT_TRUE(std::isinf(ratio_key(std::vector<double>{0.5}, std::vector<double>{0})[0]));
}

}  // namespace
}  // namespace draftproof
