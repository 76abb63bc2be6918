// The explorer visits every branch of positive probability once, with its probability, and reports an incomplete
// enumeration.
#include <map>
#include <stdexcept>
#include <tuple>

#include <gtest/gtest.h>

#include <draftproof/exact/rational.hpp>
#include <draftproof/sim/random/explorer.hpp>
#include <draftproof/sim/sampling/function_weights.hpp>

namespace draftproof {
namespace {

using Exact = Explorer<Rational>;

/// Integer weights as the explorer sees them.
auto weights(const std::vector<int>& row) {
  return FunctionWeights(static_cast<int>(row.size()), [row](Token x) { return row[static_cast<std::size_t>(x)]; });
}

/// Probability of each verdict token.
template <class Program>
std::map<Token, Rational> law(Program program) {
  std::map<Token, Rational> tokens;
  Exact explorer;
  EXPECT_TRUE(explorer.explore(program, [&](const Leaf<Rational>& leaf) {
    if (leaf.verdict.token != every_token) tokens[leaf.verdict.token] += leaf.probability;
    for (const auto& [token, weight] : leaf.spread) tokens[token] += leaf.probability * weight / leaf.spread_total;
  }));
  return tokens;
}

TEST(Explorer, ProgramWithoutChoicesIsOneCertainLeaf) {
  EXPECT_EQ(law([](Exact&) { return Verdict{3, 0}; }), (std::map<Token, Rational>{{3, 1}}));
}

TEST(Explorer, LeavesCarryTheProductOfTheirBranches) {
  const auto tokens = law([](Exact& random) {
    const Token first = random.pick(weights({1, 2, 3}));
    if (first == 0) return Verdict{0, 0};
    const bool taken = random.flip(Rational(1, 4), Rational(1, 2 + first));
    return taken ? Verdict{first, 0} : Verdict{10 + random.pick(weights({1, 1})), 0};
  });
  // Token 1: 1/3 times 3/4; token 2: 1/2 times 1 (a certain flip); the rest 1/12, split in two.
  EXPECT_EQ(tokens, (std::map<Token, Rational>{{0, {1, 6}}, {1, {1, 4}}, {2, {1, 2}}, {10, {1, 24}}, {11, {1, 24}}}));
}

TEST(Explorer, EmitSpreadsALeafOverAllTokens) {
  const auto tokens = law([](Exact& random) {
    if (random.flip(Rational(1), Rational(3))) return Verdict{0, 0};
    return random.emit(weights({0, 1, 4}));
  });
  EXPECT_EQ(tokens, (std::map<Token, Rational>{{0, {1, 3}}, {1, {2, 15}}, {2, {8, 15}}}));
}

TEST(Explorer, LeafMassesSumToOneAndLeavesAreCounted) {
  Exact explorer;
  Rational mass = 0;
  std::uint64_t leaves = 0;
  EXPECT_TRUE(explorer.explore(
      [](Exact& random) {
        Token depth = 0;
        while (depth < 6 && random.flip(Rational(depth + 1), Rational(7))) ++depth;
        return Verdict{random.pick(weights({1, 0, 2, 5})), 0};
      },
      [&](const Leaf<Rational>& leaf) {
        mass += leaf.probability;
        ++leaves;
      }));
  EXPECT_EQ(mass, 1);
  EXPECT_EQ(leaves, 7u * 3u);
  EXPECT_EQ(explorer.leaves(), leaves);
}

TEST(Explorer, NeverTakesABranchOfProbabilityZero) {
  law([](Exact& random) {
    EXPECT_FALSE(random.flip(Rational(0), Rational(1)));
    EXPECT_FALSE(random.flip(Rational(-1), Rational(1)));
    EXPECT_TRUE(random.flip(Rational(1), Rational(1)));
    EXPECT_TRUE(random.flip(Rational(2), Rational(1)));
    EXPECT_NE(random.pick(weights({1, 0, 1})), 1);
    return Verdict{0, 0};
  });
}

TEST(Explorer, ReportsATreeItDidNotFinish) {
  Exact explorer(ExplorerLimits{.leaves = 5});
  Rational mass = 0;
  const auto program = [](Exact& random) { return Verdict{random.pick(weights({1, 1, 1, 1, 1, 1})), 0}; };
  const auto sink = [&](const Leaf<Rational>& leaf) { mass += leaf.probability; };
  EXPECT_FALSE(explorer.explore(program, sink));
  EXPECT_EQ(explorer.leaves(), 5u);
  EXPECT_EQ(mass, Rational(5, 6)) << "what was seen is a lower bound";
  Exact enough(ExplorerLimits{.leaves = 6});
  EXPECT_TRUE(enough.explore(program, sink));
}

TEST(Explorer, IsReadyForAnotherTree) {
  Exact explorer(ExplorerLimits{.leaves = 2});
  const auto program = [](Exact& random) { return Verdict{random.pick(weights({1, 1, 1})), 0}; };
  for (int round = 0; round < 2; ++round) {
    Rational mass = 0;
    EXPECT_FALSE(explorer.explore(program, [&](const Leaf<Rational>& leaf) { mass += leaf.probability; }));
    EXPECT_EQ(mass, Rational(2, 3));
  }
}

TEST(Explorer, ZeroMassIsAnError) {
  const auto run = [](auto program) { law(program); };
  EXPECT_THROW(run([](Exact& random) { return Verdict{random.pick(weights({0, 0})), 0}; }), std::logic_error);
  EXPECT_THROW(run([](Exact& random) { return random.emit(weights({0, 0})); }), std::logic_error);
  EXPECT_THROW(run([](Exact& random) {
                 return Verdict{random.flip(Rational(1), Rational(0)), 0};
               }),
               std::logic_error);
}

/// Explores a program that must be noticed as one whose replays differ.
template <class Program>
std::string complaint_about(Program program) {
  Exact explorer;
  try {
    std::ignore = explorer.explore(program, [](const Leaf<Rational>&) {});
  } catch (const NotReproducible& error) {
    return error.what();
  }
  return "";
}

TEST(Explorer, NoticesReplaysThatDiffer) {
  int calls = 0;
  const auto fewer = [&calls](Exact& random) {
    if (calls++ == 1) return Verdict{0, none_accepted};
    return Verdict{random.flip(1, 2) ? 1 : 0, none_accepted};
  };
  EXPECT_NE(complaint_about(fewer).find("fewer draws"), std::string::npos);
  calls = 0;
  const auto kind = [&calls](Exact& random) {
    return Verdict{calls++ == 1 ? random.pick(weights({1, 1})) : Token{random.flip(1, 2)}, none_accepted};
  };
  EXPECT_NE(complaint_about(kind).find("another kind"), std::string::npos);
  calls = 0;
  const auto coin = [&calls](Exact& random) { return Verdict{random.flip(1, 2 + calls++), none_accepted}; };
  EXPECT_NE(complaint_about(coin).find("another probability"), std::string::npos);
  calls = 0;
  const auto draw = [&calls](Exact& random) {
    return Verdict{random.pick(weights({1, 1 + calls++})), none_accepted};
  };
  EXPECT_NE(complaint_about(draw).find("other weights"), std::string::npos);
}

}  // namespace
}  // namespace draftproof
