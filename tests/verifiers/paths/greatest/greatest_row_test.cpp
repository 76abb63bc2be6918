// The greatest path's row: its law and its excess by runs against the definition, in fractions and on tables.
#include <cmath>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include <draftproof/exact/rational.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/verifiers/paths/greatest/greatest_row.hpp>

namespace draftproof {
namespace {

std::vector<int> few_weights(std::mt19937& words, int vocabulary) {
  std::vector<int> weights(static_cast<std::size_t>(vocabulary), 0);
  for (int i = 0; i < 2 * vocabulary; ++i) ++weights[words() % weights.size()];  // zeros and ties among them
  return weights;
}
std::vector<Rational> fractions_of(const std::vector<int>& weights) {
  int total = 0;
  for (const int w : weights) total += w;
  std::vector<Rational> row;
  for (const int w : weights) row.push_back(Rational(w) / Rational(total));
  return row;
}

TEST(GreatestRowInFractions, LawAndExcessAreThoseOfTheDefinition) {
  std::mt19937 words(7);
  int split_runs = 0;
  for (int round = 0; round < 300; ++round) {
    const int vocabulary = 2 + static_cast<int>(words() % 8);
    const auto q = fractions_of(few_weights(words, vocabulary));
    const auto p = round % 7 == 0 ? q : fractions_of(few_weights(words, vocabulary));
    const Rows<Rational> laws(p, q);
    const MaxOfKPaths<Rational> max_of_k{2 + static_cast<int>(words() % 4),
                                         Rational(static_cast<int>(words() % 5)) / Rational(9),
                                         Rational(1 + static_cast<int>(words() % 4)) / Rational(9)};
    const GreatestRow<Rows<Rational>> row(laws, TokenOrder<Rows<Rational>>(laws), max_of_k);
    const auto power = [&](Rational base) {
      Rational product(1);
      for (int k = 0; k < max_of_k.paths; ++k) product *= base;
      return product;
    };
    const auto at = [](Token x) { return static_cast<std::size_t>(x); };
    std::vector<Rational> law;
    for (Token y = 0; y < vocabulary; ++y) {
      Rational lo = max_of_k.below;
      for (Token z = 0; z < vocabulary; ++z) {
        const Rational left = p[at(z)] * q[at(y)], right = p[at(y)] * q[at(z)];
        if (left < right || (left == right && z > y)) lo += max_of_k.reached * q[at(z)];
      }
      const Rational hi = lo + max_of_k.reached * q[at(y)];
      law.push_back((power(hi) - power(lo)) / (power(max_of_k.below + max_of_k.reached) - power(max_of_k.below)));
      ASSERT_EQ(row.law(y), law.back()) << "token " << y << " of round " << round;
      if (!(q[at(y)] > Rational(0))) continue;
      const auto after = row.after(y);
      ASSERT_EQ(after.below * hi, lo * (after.below + after.reached));
    }
    for (int c = 1; c <= 12; ++c) {
      const Rational scale = Rational(c) / Rational(12);
      Rational excess(0);
      std::map<Token, Rational> wanted, found;
      for (Token y = 0; y < vocabulary; ++y)
        if (const Rational left = scale * p[at(y)] - law[at(y)]; left > Rational(0)) excess += wanted[y] = left;
      row.for_each(scale, [&](Token x, const Rational& weight) { found[x] += weight; });
      ASSERT_EQ(row.excess(scale), excess) << "round " << round << ", c = " << c << " / 12";
      ASSERT_EQ(found, wanted);
      split_runs += wanted.size() > 1 && wanted.size() + 1 < static_cast<std::size_t>(vocabulary);
    }
  }
  EXPECT_GT(split_runs, 100);
}

/// Long rows: some tokens have no q, others no p, and ratios come in ties.
RatioTable long_table(std::uint32_t seed, int vocabulary, double sigma) {
  std::mt19937 words(seed);
  std::normal_distribution<double> normal;
  std::vector<double> p, q;
  double p_sum = 0, q_sum = 0;
  for (Token x = 0; x < vocabulary; ++x) {
    const double logit = 3 * normal(words), shift = std::round(8 * normal(words)) / 8;
    p.push_back(x % 11 == 3 ? 0 : std::exp(logit + sigma * shift));
    q.push_back(x % 13 == 5 ? 0 : std::exp(logit));
    p_sum += p.back();
    q_sum += q.back();
  }
  for (double& weight : p) weight /= p_sum;
  for (double& weight : q) weight /= q_sum;
  return {p, q};
}

TEST(GreatestRowOnTables, RankingNamesEveryTokenOnce) {
  for (const double sigma : {0.0, 1.0}) {
    const RatioTable table = long_table(3, 700, sigma);
    const auto ranking = table.ranking();
    std::map<Token, int> seen;
    for (int j = 0; j < ranking.size(); ++j) {
      ASSERT_EQ(ranking.of(ranking.token(j)), j);
      ASSERT_GT(table.proposal(ranking.token(j)), 0);
      ASSERT_LE(ranking.ratio(j), ranking.ratio(std::max(j - 1, 0)));
      ++seen[ranking.token(j)];
    }
    EXPECT_EQ(ranking.proposal(0, ranking.size()), 1);
    EXPECT_GT(ranking.undraftable(), 0);
    constexpr int steps = 4096;
    for (int i = 0; i < steps; ++i) {
      const Token x = ranking.draw_undraftable(ranking.undraftable() * i / steps);
      ASSERT_EQ(table.proposal(x), 0);
      ASSERT_GT(table.target(x), 0);
    }
  }
}

TEST(GreatestRowOnTables, DrawsFollowTheWeightsAndTheWeightsTheLaw) {
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    const RatioTable table = long_table(seed, 600, seed % 3 * 0.7);
    const MaxOfKPaths<double> max_of_k{2 + static_cast<int>(seed % 4), seed % 2 ? 0.25 : 0.0, seed % 2 ? 0.75 : 1.0};
    const GreatestRow<RatioTable> row(table, TokenOrder<RatioTable>(table), max_of_k);
    double law = 0;
    for (Token x = 0; x < table.vocabulary(); ++x) law += row.law(x);
    // 600 terms of a few roundings each.
    EXPECT_NEAR(law, 1, 1e-12);
    for (const double c : {0.05, 0.5, 0.93, 1.0}) {
      double excess = 0;
      for (Token x = 0; x < table.vocabulary(); ++x) excess += std::max(c * table.target(x) - row.law(x), 0.0);
      EXPECT_NEAR(row.excess(c), excess, 1e-12);
      std::map<Token, double> weight, drawn;
      row.for_each(c, [&](Token x, double w) {
        EXPECT_GT(w, 0);
        EXPECT_NEAR(w, c * table.target(x) - row.law(x), 1e-14);
        weight[x] += w;
      });
      // Equally spaced words fall into a token's interval of the running sum at most once too often or too rarely;
      // rounding may move its ends past one more word.
      constexpr std::uint64_t count = 1 << 14;
      for (std::uint64_t i = 0; i < count; ++i) ++drawn[row.draw(c, i << 50)];
      for (const auto& [x, times] : drawn) ASSERT_TRUE(weight.contains(x)) << x;
      for (const auto& [x, w] : weight)
        ASSERT_NEAR(drawn[x], w / excess * count, 2) << "token " << x << ", c = " << c;
    }
  }
}

}  // namespace
}  // namespace draftproof
