// The urn bet has mean 1 over all outcomes, exactly, and grows when tokens do not follow the law.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/statistics/dirichlet_multinomial.hpp>

namespace draftproof {
namespace {

TEST(DirichletMultinomial, HasMeanOneOverAllOutcomes) {
  const std::vector<double> law{0.5, 0.3, 0.15, 0.05};
  const std::uint64_t n = 9;
  double mean = 0;
  for (std::uint64_t a = 0; a <= n; ++a)
    for (std::uint64_t b = 0; a + b <= n; ++b)
      for (std::uint64_t c = 0; a + b + c <= n; ++c) {
        const std::vector<std::uint64_t> counts{a, b, c, n - a - b - c};
        double log_probability = std::lgamma(static_cast<double>(n) + 1);
        for (std::size_t x = 0; x < law.size(); ++x)
          log_probability +=
              static_cast<double>(counts[x]) * std::log(law[x]) - std::lgamma(static_cast<double>(counts[x]) + 1);
        mean += std::exp(log_probability + log_e_multinomial(law, counts));
      }
  // 220 outcomes and 11 bets of a few dozen roundings each; lgamma loses digits at strength 4^10.
  EXPECT_NEAR(mean, 1, 1e-8);
}

TEST(DirichletMultinomial, KnowsProofsAndNothing) {
  const std::vector<double> law{1, 0};
  EXPECT_EQ(log_e_multinomial(law, std::vector<std::uint64_t>{0, 0}), 0);
  EXPECT_NEAR(log_e_multinomial(law, std::vector<std::uint64_t>{1000, 0}), 0, 1e-6);
  EXPECT_TRUE(std::isinf(log_e_multinomial(law, std::vector<std::uint64_t>{1000, 1})));
}

TEST(DirichletMultinomial, GrowsWithTheEvidence) {
  const std::vector<double> law{0.5, 0.5};
  EXPECT_LT(log_e_multinomial(law, std::vector<std::uint64_t>{5030, 4970}), 0);
  const double some = log_e_multinomial(law, std::vector<std::uint64_t>{5200, 4800});
  const double more = log_e_multinomial(law, std::vector<std::uint64_t>{52'000, 48'000});
  EXPECT_GT(some, 3);
  EXPECT_GT(more, 60);
}

}  // namespace
}  // namespace draftproof
