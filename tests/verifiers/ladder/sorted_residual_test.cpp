// The excess over the law of a chosen token, by table against the sum over the vocabulary, in fractions and in
// double; and draws from a ladder's node against its weights.
#include <cmath>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include <draftproof/exact/rational.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/verifiers/ladder/chosen_path.hpp>

namespace draftproof {
namespace {

TEST(ChosenTables, ExcessAndWeightsAreThoseOfTheDefinition) {
  std::mt19937 words(11);
  const auto row = [&](std::size_t vocabulary) {
    std::vector<Rational> weights(vocabulary, Rational(0));
    for (std::size_t i = 0; i < 2 * vocabulary; ++i)
      weights[words() % vocabulary] += Rational(1) / Rational(static_cast<int>(2 * vocabulary));
    return weights;
  };
  for (int round = 0; round < 300; ++round) {
    const std::size_t vocabulary = 2 + words() % 8;
    const Rows<Rational> laws(row(vocabulary), row(vocabulary));
    const auto other = row(vocabulary);
    const auto chosen = [&](Token x) { return round % 7 == 0 ? laws.target(x) : other[static_cast<std::size_t>(x)]; };
    const ChosenTable<Rational> table(laws, chosen);
    for (int c = 1; c <= 12; ++c) {
      const Rational scale = Rational(c) / Rational(12);
      Rational excess(0);
      std::map<Token, Rational> wanted, found;
      for (Token y = 0; y < laws.vocabulary(); ++y)
        if (const Rational left = scale * laws.target(y) - chosen(y); left > Rational(0)) excess += wanted[y] = left;
      table.for_each(laws, chosen, scale, [&](Token x, const Rational& weight) { found[x] += weight; });
      ASSERT_EQ(table.excess(scale), excess) << "round " << round << ", c = " << c << " / 12";
      ASSERT_EQ(found, wanted);
    }
  }
}

TEST(ChosenTables, ALaddersNodeIsDrawnFromAsItsWeightsSay) {
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    std::mt19937 words(seed);
    std::normal_distribution<double> normal;
    std::vector<double> p, q;
    double p_sum = 0, q_sum = 0;
    for (int x = 0; x < 600; ++x) {
      const double logit = 3 * normal(words);
      p.push_back(x % 11 == 3 ? 0 : std::exp(logit + normal(words)));
      q.push_back(x % 13 == 5 ? 0 : std::exp(logit));
      p_sum += p.back();
      q_sum += q.back();
    }
    for (double& weight : p) weight /= p_sum;
    for (double& weight : q) weight /= q_sum;
    const RatioTable laws(p, q);
    const LadderNode<RatioTable> node(laws, seed % 2 ? std::vector{0.25, 0.25, 0.5} : all_active<double>(4));
    const auto excess_of = [&](double c) {
      return node.with_left_over(laws, [c](const auto& left) { return left.excess(c); });
    };
    for (const double c : {0.05, 0.5, 0.93, 1.0}) {
      double excess = 0;
      for (Token x = 0; x < laws.vocabulary(); ++x) excess += node.above(laws, x, c);
      // 600 terms truncated to 2^-60, twice, and their sum in double.
      EXPECT_NEAR(excess_of(c), excess, 1e-12);
      std::map<Token, double> weight, drawn;
      const auto weigh = [&](Token x, double w) {
        EXPECT_GT(w, 0);
        EXPECT_NEAR(w, node.above(laws, x, c), 1e-14);
        weight[x] += w;
      };
      node.with_left_over(laws, [&](const auto& left) { left.for_each(c, weigh); });
      // Equally spaced words fall into a token's interval of the running sum at most once too often or too rarely;
      // rounding may move its ends past one more word.
      constexpr std::uint64_t count = 1 << 14;
      for (std::uint64_t i = 0; i < count; ++i)
        ++drawn[node.with_left_over(laws, [&](const auto& left) { return left.draw(c, i << 50); })];
      for (const auto& [x, times] : drawn) ASSERT_TRUE(weight.contains(x)) << x;
      for (const auto& [x, w] : weight)
        ASSERT_NEAR(drawn[x], w / excess * count, 2) << "token " << x << ", c = " << c;
    }
  }
}

}  // namespace
}  // namespace draftproof
