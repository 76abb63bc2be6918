// Tracked tokens: weights give one token the value that a visit of all tokens gives it, and an explorer that tracks
// some tokens gives them the mass of a complete enumeration.
#include <algorithm>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/random/explorer.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/verifiers/ladder/levels.hpp>

namespace draftproof {
namespace {

/// A sum of up to 40 terms below 1, or a difference of prefix sums that rounds twice.
constexpr double rounding = 40 * 0x1p-52;

template <WeighsTokens W>
void expect_same(const W& weights, int vocabulary) {
  std::vector<double> visited(static_cast<std::size_t>(vocabulary));
  double total = 0;
  weights.for_each([&](Token x, double weight) {
    visited[static_cast<std::size_t>(x)] = weight;
    total += weight;
  });
  for (Token x = 0; x < vocabulary; ++x) EXPECT_EQ(weights.weight(x), visited[static_cast<std::size_t>(x)]) << x;
  EXPECT_NEAR(weights.total(), total, rounding);
}

TEST(Weights, SayOfOneTokenWhatTheySayOfAll) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    const double zeros = seed % 2 ? 0.4 : 0;
    const RatioTable table(examples::random_row(seed, 40, 2, zeros), examples::random_row(seed + 99, 40, 2, zeros));
    for (const double b : {0.0, 0.3, 1.0, 1.7}) expect_same(table.residual(b), 40);
    for (const double clip_ratio : {1.0, 1.5, 3.0})
      for (const double b : {0.25, 1.0}) expect_same(table.clipped(b, clip_ratio), 40);
    const Token seen[] = {7, 30, 2};
    for (int n = 0; n <= 3; ++n) expect_same(table.row_without(0, seen, n), 40);
    const auto half = [&](Token x) { return table.target(x) / 2; };
    expect_same(table.weights(half), 40);
    expect_same(table.tabulated(half), 40);
    expect_same(table.alias_weights(half), 40);
  }
}

TEST(Explorer, LumpsWhatNobodyAttendsTo) {
  const RatioTable table(examples::random_row(1, 30), examples::random_row(2, 30));
  const auto walk = [&](Explorer<double>& explorer) {
    std::map<Token, double> mass;
    EXPECT_TRUE(explorer.explore(
        [&](Explorer<double>& random) {
          if (random.flip(1, 3)) return accepted(4, 0);
          return random.emit(table.residual(0.5));
        },
        [&](const Leaf<double>& leaf) {
          if (leaf.verdict.token >= 0) mass[leaf.verdict.token] += leaf.probability;
          for (const auto& [x, weight] : leaf.spread) mass[x] += leaf.probability * weight / leaf.spread_total;
        }));
    return mass;
  };
  Explorer<double> whole, attending;
  auto all = walk(whole);
  const std::vector<Token> tokens{3, 4, 20, 21, 22};
  attending.track_only(tokens);
  auto few = walk(attending);
  EXPECT_EQ(all.count(no_token), 0u);
  double rest = 0;
  for (const auto& [x, mass] : all)
    if (std::find(tokens.begin(), tokens.end(), x) == tokens.end()) rest += mass;
  EXPECT_LE(few.size(), tokens.size() + 1);
  EXPECT_NEAR(few[no_token], rest, rounding);
  for (const Token x : tokens) EXPECT_NEAR(few[x], all[x], rounding) << x;
}

TEST(Explorer, DrawsWhatHasManyBranchesIfDealtWords) {
  const LadderLevels<double> levels(std::vector<double>{0, 0.25, 0.5, 0.75});
  std::map<int, double> mass;
  const auto program = [&](Explorer<double>& random) {
    const auto interval = static_cast<Token>(levels.draw(random));
    return accepted(static_cast<Token>(4 * interval + random.pick(UniformIndex{2})), 0);
  };
  const auto sink = [&](const Leaf<double>& leaf) { mass[leaf.verdict.token] += leaf.probability; };
  Explorer<double> explorer;
  EXPECT_TRUE(explorer.explore(program, sink));
  EXPECT_EQ(mass.size(), 8u);
  // If a word chooses the level, the rest is still enumerated, and every replay draws the same.
  for (int quarter = 0; quarter < 4; ++quarter) {
    mass.clear();
    const std::uint64_t word[] = {static_cast<std::uint64_t>(quarter) << 62 | 5};
    explorer.fix_picks(word);
    EXPECT_TRUE(explorer.explore(program, sink));
    EXPECT_EQ(mass, (std::map<int, double>{{4 * quarter, 0.5}, {4 * quarter + 1, 0.5}}));
  }
}

}  // namespace
}  // namespace draftproof
