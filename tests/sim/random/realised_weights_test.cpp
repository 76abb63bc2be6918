// The realised weights of a draw against draws on an even grid of words; and the explorer that uses them.
#include <cmath>
#include <map>
#include <tuple>

#include <gtest/gtest.h>

#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/random/explorer.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

constexpr std::uint64_t grid_words = 1 << 16;

std::map<Token, double> realised_law(const auto& weights) {
  std::map<Token, double> law;
  double total = 0;
  const auto add = [&](Token x, const auto& weight) { total += law[x] += static_cast<double>(weight); };
  visit_realised(weights, add);
  for (auto& [token, weight] : law) weight /= total;
  return law;
}

/// Words in the middle of `grid_words` equal cells: a token's count is wrong by less than a cell at each of its ends,
/// and by a few words more for the resolution of the draw's comparison.
void expect_served(const auto& weights) {
  std::map<Token, double> drawn;
  for (std::uint64_t cell = 0; cell < grid_words; ++cell)
    drawn[weights.draw((cell << 48) + (std::uint64_t{1} << 47))] += 1.0 / grid_words;
  const auto served = realised_law(weights);
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
  // In float 1 + 2^-25 is 1: the second token is never drawn, although its weight is not 0. Then 2^-23 makes a full
  // step.
  const FunctionWeights weights(3, [](Token x) { return x == 0 ? 1.0f : x == 1 ? 0x1p-25f : 0x1p-23f; });
  const auto law = realised_law(weights);
  EXPECT_FALSE(law.contains(1));
  EXPECT_EQ(law.at(2), 0x1p-23 / (1 + 0x1p-23));
  int tokens = 0;
  weights.for_each([&tokens](Token, float) { ++tokens; });
  EXPECT_EQ(tokens, 3);
}

TEST(RealisedWeights, OfIntegersLoseWhatIsBelowTheirUnit) {
  const FixedWeights weights(2, [](Token x) { return x == 0 ? 0x1p-61 : 0x1.8p-60; });
  EXPECT_EQ(realised_law(weights), (std::map<Token, double>{{1, 1.0}}));
}

TEST(RealisedWeights, OfABisectionOverFallingBounds) {
  // A bisection among 4 for the first bound above the threshold reads the second bound first, then one of the others.
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
    if (!random.flip(1.0, 0.0)) return accepted(1, 0);  // u * 0 < 1 for every u
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

}  // namespace
}  // namespace draftproof
