// Tests of the weights that draws are made from: running sums, integer sums, tables, the uniform distribution outside
// a set; and of the realised weights, which are exactly proportional to the draws.
#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/position.hpp>
#include <draftproof/sim/random/explorer.hpp>
#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/sim/sampling/without_replacement.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

TEST(PlainPass, NeverDrawsAZeroToken) {
  for (const auto& row : examples::awkward_rows()) {
    const FunctionWeights weights(static_cast<int>(row.size()),
                                  [&](Token x) { return row[static_cast<std::size_t>(x)]; });
    for (const std::uint64_t word : examples::some_words(8, 100)) {
      const Token drawn = weights.draw(word);
      ASSERT_GE(drawn, 0);
      ASSERT_GT(row[static_cast<std::size_t>(drawn)], 0);
    }
  }
}

TEST(PlainPass, ThresholdOnABoundaryBelongsToTheUpperToken) {
  // The running sums of these weights are exact in floating point.
  const std::vector<double> row{0.25, 0.0, 0.25, 0.5};
  const FunctionWeights weights(4, [&](Token x) { return row[static_cast<std::size_t>(x)]; });
  EXPECT_EQ(weights.draw(0), 0);
  EXPECT_EQ(weights.draw((std::uint64_t{1} << 62) - 1), 0);
  EXPECT_EQ(weights.draw(std::uint64_t{1} << 62), 2);
  EXPECT_EQ(weights.draw((std::uint64_t{1} << 63) - 1), 2);
  EXPECT_EQ(weights.draw(std::uint64_t{1} << 63), 3);
  EXPECT_EQ(weights.draw(~std::uint64_t{0}), 3);
}

// Tests of integer sums: their stated error, and that a draw depends only on the weights and the random bits.

TEST(FixedPoint, SumLiesBelowTheTrueSumByLessThanItsBound) {
  for (const auto& row : examples::awkward_rows()) {
    const auto size = static_cast<int>(row.size());
    long double exact = 0;  // its error is below V 2^-64
    for (const double weight : row) exact += weight;
    const double sum = fixed_sum(size, [&row](Token x) { return row[static_cast<std::size_t>(x)]; });
    // from_fixed rounds the sum, which is near 1, once more.
    EXPECT_LE(sum, exact + size * 0x1p-64L + 0x1p-53L);
    EXPECT_GT(sum, exact - size * (0x1p-60L + 0x1p-64L) - 0x1p-53L);
  }
}

TEST(FixedPoint, SumDoesNotDependOnTheOrder) {
  const auto row = examples::random_row(5, 5000, 12, 0.1);
  const int size = 5000;
  const auto entry = [&row](Token x) { return row[static_cast<std::size_t>(x)]; };
  const double forward = fixed_sum(size, entry);
  EXPECT_EQ(forward, fixed_sum(size, [&](Token x) { return entry(size - 1 - x); }));
  EXPECT_EQ(forward, fixed_sum(size, [&](Token x) { return entry(static_cast<Token>((x * 1237LL) % size)); }));
}

TEST(FixedPoint, DrawIsTheLinearWalkOverIntegers) {
  for (const auto& row : examples::awkward_rows()) {
    const auto size = static_cast<int>(row.size());
    const auto entry = [&row](Token x) { return row[static_cast<std::size_t>(x)]; };
    Fixed total = 0;
    for (const double weight : row) total += to_fixed(weight);
    for (const std::uint64_t word : examples::some_words(6, 200)) {
      const auto at = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(total)));
      Fixed below = 0;
      Token expected = 0;
      while (below + to_fixed(entry(expected)) <= at) below += to_fixed(entry(expected++));
      const Token drawn = FixedWeights{size, entry}.draw(word);
      ASSERT_EQ(drawn, expected);
      ASSERT_GT(entry(drawn), 0) << "a token of weight zero";
    }
  }
}

TEST(FixedPoint, DrawFindsItsPartWhereTheyAreLongerThanABlock) {
  constexpr int size = 300001;  // more than 256 blocks, so each part has two blocks
  const auto weight = [](Token x) { return x % 3 == 0 ? 0x1p-20 : 0x1p-21 * (x % 5); };
  Fixed total = 0;
  for (Token x = 0; x < size; ++x) total += to_fixed(weight(x));
  std::uint64_t visited = 0;
  const FixedWeights weights(size, weight, &visited);
  for (const std::uint64_t word : examples::some_words(8, 20)) {
    const auto at = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(total)));
    Token expected = 0;
    for (Fixed below = 0; (below += to_fixed(weight(expected))) <= at;) ++expected;
    ASSERT_EQ(weights.draw(word), expected);
    EXPECT_LE(std::exchange(visited, 0), size + 2048u);
  }
}

// Tests that tabulated weights draw the same tokens as a pass over the vocabulary, and enumerate the same weights.

TEST(CumulativeWeights, DrawAndWalkAsThePassDoes) {
  for (const auto& row : examples::awkward_rows()) {
    const auto entry = [&row](Token x) { return row[static_cast<std::size_t>(x)]; };
    const FixedWeights pass(static_cast<int>(row.size()), entry);
    const CumulativeWeights table(static_cast<int>(row.size()), entry);
    for (const std::uint64_t word : examples::some_words(11, 500)) ASSERT_EQ(table.draw(word), pass.draw(word));
    std::vector<std::pair<Token, double>> seen, wanted;
    table.for_each([&seen](Token x, double weight) { seen.emplace_back(x, weight); });
    pass.for_each([&wanted](Token x, double weight) { wanted.emplace_back(x, weight); });
    EXPECT_EQ(seen, wanted);
  }
}

TEST(CumulativeWeights, EndsOfTheWordAndWeightsBelowTheGrid) {
  // 2^-61 is 0 on the grid of 2^-60: such tokens are enumerated and never drawn.
  const std::vector<double> row{0, 0x1p-61, 0.25, 0, 0.5, 0x1p-61};
  const auto entry = [&row](Token x) { return row[static_cast<std::size_t>(x)]; };
  const CumulativeWeights table(6, entry);
  EXPECT_EQ(table.draw(0), 2);
  EXPECT_EQ(table.draw(~std::uint64_t{0}), 4);
  int summed = 0;
  table.for_each([&summed](Token, double) { ++summed; });
  EXPECT_EQ(summed, 4);
}

TEST(Weights, NothingToDrawGivesNoToken) {
  const auto nothing = [](Token) { return 0.0; };
  const auto below_unit = [](Token) { return 0x1p-61; };
  const auto one = [](Token) { return 1.0; };
  EXPECT_EQ(FunctionWeights(3, nothing).draw(5), no_token);
  EXPECT_EQ(FixedWeights(3, nothing).draw(77), no_token);
  EXPECT_EQ(FixedWeights(0, one).draw(77), no_token);
  EXPECT_EQ(CumulativeWeights(3, nothing).draw(77), no_token);
  EXPECT_EQ(CumulativeWeights(0, one).draw(77), no_token);
  EXPECT_EQ(CumulativeWeights(3, below_unit).draw(77), no_token);
}

// Tests of realised weights against draws with evenly spaced random bits, and of the explorer that uses them.

constexpr std::uint64_t grid_words = 1 << 16;

std::map<Token, double> realised_distribution(const auto& weights) {
  std::map<Token, double> distribution;
  double total = 0;
  const auto add = [&](Token x, const auto& weight) { total += distribution[x] += static_cast<double>(weight); };
  visit_realised(weights, add);
  for (auto& [token, weight] : distribution) weight /= total;
  return distribution;
}

/// Compares draws with random bits in the middle of `grid_words` equal cells with the realised weights. A token's count
/// is wrong by less than one cell at each end of its interval, and by a little more because the draw's comparison has a
/// finite resolution.
void expect_served(const auto& weights) {
  std::map<Token, double> drawn;
  for (std::uint64_t cell = 0; cell < grid_words; ++cell)
    drawn[weights.draw((cell << 48) + (std::uint64_t{1} << 47))] += 1.0 / grid_words;
  const auto served = realised_distribution(weights);
  for (const auto& [token, share] : served) EXPECT_NEAR(drawn[token], share, 3.0 / grid_words) << "token " << token;
  for (const auto& [token, share] : drawn) EXPECT_TRUE(served.contains(token)) << "token " << token;
}

TEST(RealisedWeights, AreWhatDrawsServe) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const auto p = examples::random_row(seed, 40, 3, 0.2), q = examples::random_row(seed + 9, 40, 2, 0.2);
    const Rows<double> rows(p, q);
    const RatioTable table(p, q);
    const FreshRows<double> fresh(p, q);
    for (const double b : {0.0, 0.4, 1.0}) {
      expect_served(rows.residual(b));
      expect_served(table.residual(b));
      expect_served(fresh.residual(b));
    }
    expect_served(table.clipped(0.5, 1.25));
    const auto half = [&p](Token x) { return p[static_cast<std::size_t>(x)] / 2; };
    expect_served(table.weights(half));
    expect_served(table.tabulated(half));
    expect_served(table.alias_weights(half));
  }
}

TEST(RealisedWeights, OfARunningSumLoseWhatItLoses) {
  // In float 1 + 2^-25 is 1, so the second token is never drawn although its weight is not 0. Adding 2^-23 is exact.
  const FunctionWeights weights(3, [](Token x) { return x == 0 ? 1.0f : x == 1 ? 0x1p-25f : 0x1p-23f; });
  const auto distribution = realised_distribution(weights);
  EXPECT_FALSE(distribution.contains(1));
  EXPECT_EQ(distribution.at(2), 0x1p-23 / (1 + 0x1p-23));
  int tokens = 0;
  weights.for_each([&tokens](Token, float) { ++tokens; });
  EXPECT_EQ(tokens, 3);
}

TEST(RealisedWeights, OfIntegersLoseWhatIsBelowTheirUnit) {
  const FixedWeights weights(2, [](Token x) { return x == 0 ? 0x1p-61 : 0x1.8p-60; });
  EXPECT_EQ(realised_distribution(weights), (std::map<Token, double>{{1, 1.0}}));
}

TEST(RealisedWeights, OfABisectionOverFallingBounds) {
  // A bisection among four bounds for the first above the threshold reads the second bound, then one of the others.
  const std::vector<double> bounds{0.5, 0.25, 0.75, 1};
  std::vector<double> shares(4, 0.0);
  realise_bisection(
      0, 3, 0, 1, [&bounds](std::size_t j) { return bounds[j]; },
      [&shares](std::size_t j, double share) { shares[j] = share; });
  EXPECT_EQ(shares, (std::vector{0.25, 0.0, 0.5, 0.25}));
}

TEST(RealisedWeights, ExplorerTakesThemWhenAsked) {
  const FunctionWeights weights(2, [](Token x) { return x == 0 ? 1.0f : 0x1p-25f; });
  const auto outcomes = [&weights](bool served) {
    Explorer<double> explorer;
    if (served) explorer.with_rounding();
    std::size_t spread = 0;
    EXPECT_TRUE(explorer.explore([&](Explorer<double>& random) { return random.emit(weights); },
                                 [&](const Leaf<double>& leaf) { spread = leaf.spread.size(); }));
    return spread;
  };
  EXPECT_EQ(outcomes(false), 2u);
  EXPECT_EQ(outcomes(true), 1u);
}

TEST(RealisedWeights, NothingToServeGivesNoToken) {
  const FixedWeights nothing(2, [](Token) { return 0x1p-61; });
  const auto program = [&nothing](Explorer<double>& random) {
    if (!random.flip(1.0, 0.0)) return accepted(1, 0);  // the flip succeeds: u * 0 < 1 for every u
    const Verdict verdict = random.emit(nothing);
    EXPECT_EQ(verdict.token, no_token);
    return verdict;
  };
  Explorer<double> strict, served;
  EXPECT_THROW(std::ignore = strict.explore(program, [](const Leaf<double>&) {}), std::logic_error);
  served.with_rounding();
  int leaves = 0;
  EXPECT_TRUE(served.explore(program, [&leaves](const Leaf<double>& leaf) {
    EXPECT_EQ(leaf.verdict.token, no_token);
    EXPECT_TRUE(leaf.spread.empty());
    ++leaves;
  }));
  EXPECT_EQ(leaves, 1);
}

// Tests of the uniform distribution outside a set, and of the pair of distributions outside the support of q.

__extension__ using Wide = unsigned __int128;

TEST(UniformOnComplement, GivesEveryUnseenTokenItsShareInOrder) {
  constexpr int vocabulary = 6;
  for (unsigned set = 0; set < 1u << vocabulary; ++set) {
    std::vector<Token> seen, unseen;
    for (Token x = 0; x < vocabulary; ++x) (set >> x & 1 ? seen : unseen).push_back(x);
    for (const bool reversed : {false, true}) {
      if (reversed) std::reverse(seen.begin(), seen.end());  // drafts may come in any order
      const UniformOnComplement weights(vocabulary, seen.data(), static_cast<int>(seen.size()));
      std::vector<Token> summed;
      weights.for_each([&](Token x, int weight) {
        EXPECT_EQ(weight, 1);
        summed.push_back(x);
      });
      EXPECT_EQ(summed, unseen);
      // The i-th unseen token is drawn for random bits from ceil(i 2^64 / n) on.
      for (std::size_t i = 0; i < unseen.size(); ++i) {
        const auto first =
            static_cast<std::uint64_t>(((static_cast<Wide>(i) << 64) + unseen.size() - 1) / unseen.size());
        EXPECT_EQ(weights.draw(first), unseen[i]);
        EXPECT_TRUE(i == 0 || weights.draw(first - 1) == unseen[i - 1]);
      }
    }
  }
}

TEST(UniformOnComplement, NothingOutsideGivesNoToken) {
  const Token seen[] = {1, 0};
  EXPECT_EQ(UniformOnComplement(2, seen, 2).draw(9), no_token);
}

TEST(OffSupportPosition, IsTheRestrictedPairOfDistributions) {
  // The support of q is tokens 1 and 3; outside it p has 2/10, 3/10 and 1/10.
  const Rows<Rational> distributions({{2, 10}, {1, 10}, {3, 10}, {3, 10}, {1, 10}, 0},
                                     std::vector<Rational>{0, {1, 4}, 0, {3, 4}, 0, 0});
  const Token drafts[] = {3, 1, 5, 2};
  const DraftedPosition at(distributions, drafts, 4);
  const OffSupportPosition rest(at, 2);
  const std::vector<Rational> p{{1, 3}, 0, {1, 2}, 0, {1, 6}, 0}, q{{1, 4}, 0, {1, 4}, 0, {1, 4}, {1, 4}};
  for (Token x = 0; x < 6; ++x) {
    EXPECT_EQ(rest.target(x), p[static_cast<std::size_t>(x)]) << x;
    EXPECT_EQ(rest.proposal(x), q[static_cast<std::size_t>(x)]) << x;
  }
  EXPECT_EQ(rest.drafts(), 2);
  EXPECT_EQ(rest.draft(0), 5);
  EXPECT_EQ(rest.draft(1), 2);
  EXPECT_EQ(rest.residual_mass(0), 1);
  EXPECT_EQ(rest.residual_mass(1), Rational(1, 3) - Rational(1, 4) + Rational(1, 2) - Rational(1, 4));
  EXPECT_EQ(rest.mass_without(0, rest.draft_data(), 1), Rational(3, 4));
  Rational residual = 0;
  rest.residual(1).for_each([&](Token x, const Rational& weight) {
    EXPECT_EQ(weight, p[static_cast<std::size_t>(x)] - q[static_cast<std::size_t>(x)]);
    residual += weight;
  });
  EXPECT_EQ(residual, rest.residual_mass(1));
}

}  // namespace
}  // namespace draftproof
