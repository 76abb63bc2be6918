// Groups of a ranking: equal to those of a linear scan, with ties on both sides of a break. Nodes that a bound
// declares plain are plain by their law.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/verifiers/ladder/path_node.hpp>

namespace draftproof {
namespace {

/// Every third token has one ratio of four, so that equal ratios fall into several groups.
RatioTable table_with_ties(int vocabulary, std::uint32_t seed) {
  std::mt19937 words(seed);
  std::normal_distribution<double> normal;
  std::vector<double> p, q;
  double p_sum = 0, q_sum = 0;
  for (int x = 0; x < vocabulary; ++x) {
    q.push_back(x % 13 == 5 ? 0 : std::exp(2 * normal(words)));
    const double ratio = x % 3 == 0 ? std::ldexp(1.0, x % 4 - 2) : std::exp(normal(words));
    p.push_back(x % 11 == 3 ? 0 : q.back() > 0 ? q.back() * ratio : 0.5);
    p_sum += p.back();
    q_sum += q.back();
  }
  for (double& weight : p) weight /= p_sum;
  for (double& weight : q) weight /= q_sum;
  return {p, q};
}

TEST(RankedBins, AreThoseOfAWalk) {
  for (const int vocabulary : {5, 64, 65, 300, 4000})
    for (std::uint32_t seed = 0; seed < 8; ++seed) {
      const RatioTable laws = table_with_ties(vocabulary, seed);
      const bool coarse = seed % 2 == 1;
      const RankedBins<RatioTable> bins = ladder_bins(laws, coarse);
      const auto ranking = laws.ranking();
      const double spread = coarse ? 0x1p-10 : 0x1p-14, allowed = ranking.size() > few_tokens ? spread : 0;
      int bin = 0;
      for (int first = 0, last; first < ranking.size(); first = last, ++bin) {
        last = first + 1;
        while (last < ranking.size() &&
               (ranking.ratio(first) - ranking.ratio(last)) * ranking.proposal(first, last + 1) < allowed)
          ++last;
        ASSERT_LT(bin, bins.size());
        ASSERT_EQ(bins.first(bin), first);
        ASSERT_EQ(bins.first(bin + 1), last);
        ASSERT_EQ(bins.proposal_below(bin + 1), ranking.proposal(0, last));
        for (int j = first; j < last; ++j) {
          ASSERT_EQ(bins.of(ranking.token(j)), bin) << "V = " << vocabulary << ", rank " << j;
          ASSERT_EQ(bins.of(ranking.token(j)), bin);  // remembered
        }
      }
      ASSERT_EQ(bin, bins.size());
    }
}

// Nodes are coarse below 1/8 and have no groups below 1/256; a law is stated for coarse groups as for fine ones.
TEST(LadderNodes, AreCoarseWhereTwoPathsAreSeldom) {
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    const RatioTable laws = table_with_ties(2000, seed);
    const auto node = [&laws](double two) { return LadderNode<RatioTable>(laws, {1 - two, two}); };
    const int fine = RankedBins<RatioTable>(laws).size();
    EXPECT_EQ(node(0x1p-3).bins(), fine);
    EXPECT_LT(node(0x1p-3 - 0x1p-20).bins(), fine / 2);
    EXPECT_TRUE(node(0x1p-9).plain());
    for (const double two : {0x1p-3, 0x1p-4, 0x1p-7}) {
      const auto at = node(two);
      double sum = 0;
      for (Token x = 0; x < laws.vocabulary(); ++x) {
        sum += at.chosen(laws, x);
        // f's slope is 1 + two (1 - 2 s).
        EXPECT_LE(std::abs(at.chosen(laws, x) - laws.proposal(x)), laws.proposal(x) * two * (1 + 1e-12));
      }
      EXPECT_NEAR(sum, 1, 1e-11);  // 2000 products of a few roundings each
    }
  }
}

TEST(LadderNodes, WhatIsPlainByTheBoundIsPlainByTheLaw) {
  int by_bound = 0, by_law = 0;
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    const RatioTable laws = table_with_ties(500, seed);
    for (const int paths : {2, 4, 7}) {
      const LadderNode<RatioTable> root(laws, all_active<double>(paths));
      for (Token x = 0; x < laws.vocabulary(); ++x) {
        if (!(laws.proposal(x) > 0)) continue;
        const LadderNode<RatioTable> child(laws, root.active_after(laws, x));
        by_law += child.plain();
        if (!root.plain_after(laws, x, root.bin(laws, x))) continue;
        ++by_bound;
        ASSERT_TRUE(child.plain()) << "token " << x << " of " << paths << " paths";
      }
    }
  }
  EXPECT_GT(by_bound, by_law / 2);
}

}  // namespace
}  // namespace draftproof
