// For every drafted tuple, compares the closed form of the conditional output distribution of recursive rejection with
// an enumeration.
#include <array>

#include <gtest/gtest.h>

#include <draftproof/bench/studies/refusal_groups.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

TEST(RefusalGroups, AreTheDistributionOfAWalkGivenTheTuple) {
  const int vocabulary = 5, drafts = 3;
  for (unsigned seed = 0; seed < 6; ++seed) {
    // For odd seeds some tokens have probability 0 in p or q.
    const double zeros = seed % 2 ? 0.3 : 0;
    const RatioTable table(examples::random_row(40 + seed, 5, 1, zeros),
                           examples::random_row(50 + seed, 5, 1, zeros));
    const RefusalGroups distribution(table, drafts);
    const auto decider = registry().verifier("recursive_rejection")->explore_on(table, drafts);
    for (Token a = 0; a < vocabulary; ++a)
      for (Token b = 0; b < vocabulary; ++b)
        for (Token c = 0; c < vocabulary; ++c) {
          const std::array<Token, 3> tuple{a, b, c};
          if (!(table.proposal(a) * table.proposal(b) * table.proposal(c) > 0)) continue;
          std::array<double, 5> enumerated{};
          double acceptance = 0;
          Explorer<double> explorer;
          EXPECT_TRUE(explorer.explore([&](Explorer<double>& random) { return decider->decide(tuple, random); },
                                       [&](const Leaf<double>& leaf) {
                                         if (leaf.verdict.token >= 0) {
                                           enumerated[static_cast<std::size_t>(leaf.verdict.token)] +=
                                               leaf.probability;
                                           acceptance += leaf.probability;
                                           return;
                                         }
                                         for (const auto& [x, weight] : leaf.spread)
                                           enumerated[static_cast<std::size_t>(x)] +=
                                               leaf.probability * weight / leaf.spread_total;
                                       }));
          std::array<double, default_groups> groups{}, expected{};
          double square = 0;
          for (std::size_t x = 0; x < enumerated.size(); ++x) {
            expected[distribution.group()[x]] += enumerated[x];
            if (enumerated[x] > 0) square += enumerated[x] * enumerated[x] / distribution.target()[x];
          }
          // The mass of a residual is a difference of prefix sums of up to 5 tokens; if it is above 2^-10, it is
          // precise to 1e-13.
          EXPECT_NEAR(distribution.groups(tuple, groups), acceptance, 1e-13);
          for (std::size_t g = 0; g < groups.size(); ++g) EXPECT_NEAR(groups[g], expected[g], 1e-13) << seed;
          EXPECT_NEAR(distribution.square(tuple), square, 1e-12 * square) << seed;
        }
  }
}

}  // namespace
}  // namespace draftproof
