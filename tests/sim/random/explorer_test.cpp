// Tests that the explorer visits every branch of positive probability once, with its probability; that it reports an
// incomplete enumeration; and that it can sum up the probability of untracked tokens. Also tests verdicts for the
// largest uniform numbers.
#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/random/explorer.hpp>
#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/verifiers/ladder/levels.hpp>

namespace draftproof {
namespace {

using Exact = Explorer<Rational>;

/// Returns weights of integers, in the form that Explorer::pick takes.
auto weights(const std::vector<int>& row) {
  return FunctionWeights(static_cast<int>(row.size()), [row](Token x) { return row[static_cast<std::size_t>(x)]; });
}

/// Returns the probability of each verdict token.
template <class Program>
std::map<Token, Rational> distribution(Program program) {
  std::map<Token, Rational> tokens;
  Exact explorer;
  EXPECT_TRUE(explorer.explore(program, [&](const Leaf<Rational>& leaf) {
    if (leaf.verdict.token != every_token) tokens[leaf.verdict.token] += leaf.probability;
    for (const auto& [token, weight] : leaf.spread) tokens[token] += leaf.probability * weight / leaf.spread_total;
  }));
  return tokens;
}

TEST(Explorer, ProgramWithoutChoicesIsOneCertainLeaf) {
  EXPECT_EQ(distribution([](Exact&) { return Verdict{3, 0}; }), (std::map<Token, Rational>{{3, 1}}));
}

TEST(Explorer, LeavesCarryTheProductOfTheirBranches) {
  const auto tokens = distribution([](Exact& random) {
    const Token first = random.pick(weights({1, 2, 3}));
    if (first == 0) return Verdict{0, 0};
    const bool taken = random.flip(Rational(1, 4), Rational(1, 2 + first));
    return taken ? Verdict{first, 0} : Verdict{10 + random.pick(weights({1, 1})), 0};
  });
  // Token 1 has probability 1/3 times 3/4, token 2 has 1/2 times 1 (a certain flip); tokens 10 and 11 share 1/12.
  EXPECT_EQ(tokens, (std::map<Token, Rational>{{0, {1, 6}}, {1, {1, 4}}, {2, {1, 2}}, {10, {1, 24}}, {11, {1, 24}}}));
}

TEST(Explorer, EmitSpreadsALeafOverAllTokens) {
  const auto tokens = distribution([](Exact& random) {
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
  distribution([](Exact& random) {
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
  const auto run = [](auto program) { distribution(program); };
  EXPECT_THROW(run([](Exact& random) { return Verdict{random.pick(weights({0, 0})), 0}; }), std::logic_error);
  EXPECT_THROW(run([](Exact& random) { return random.emit(weights({0, 0})); }), std::logic_error);
  EXPECT_THROW(run([](Exact& random) {
                 return Verdict{random.flip(Rational(1), Rational(0)), 0};
               }),
               std::logic_error);
}

/// Returns the message of NotReproducible, which exploring `program` must throw, or "" if it does not.
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

/// Bounds the error of a sum of up to 40 terms below 1, and of a difference of prefix sums, which rounds twice.
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
  const auto enumerate = [&](Explorer<double>& explorer) {
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
  auto all = enumerate(whole);
  const std::vector<Token> tokens{3, 4, 20, 21, 22};
  attending.track_only(tokens);
  auto few = enumerate(attending);
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
  // If the random bits of the level are fixed, every replay draws the same level, and the other draws are still
  // enumerated.
  for (int quarter = 0; quarter < 4; ++quarter) {
    mass.clear();
    const std::uint64_t word[] = {static_cast<std::uint64_t>(quarter) << 62 | 5};
    explorer.fix_picks(word);
    EXPECT_TRUE(explorer.explore(program, sink));
    EXPECT_EQ(mass, (std::map<int, double>{{4 * quarter, 0.5}, {4 * quarter + 1, 0.5}}));
  }
}

/// Returns the verdict on the longest prefix of `drafts` that the verifier takes, if all random bits are 1.
Verdict on_largest_words(const AnyVerifier& verifier, const std::vector<double>& p, const std::vector<double>& q,
                         std::vector<Token> drafts) {
  while (!verifier.takes(static_cast<int>(drafts.size()))) drafts.pop_back();
  WordsOf<Tape> words(Tape(std::vector<std::uint64_t>(64, ~std::uint64_t{0})));  // more numbers than any scheme draws
  Scripted random(words);
  const Rows<double> rows(p, q);
  return verifier.scripted_on(rows, static_cast<int>(drafts.size()))->decide(drafts, random);
}

// These rows have no small integer weights. The properties boundary_uniforms, edge_rows and strict_grid check rows that
// have such weights. Two kinds of scheme are skipped: enumerated plans, which divide the mass of a set on a grid of
// 2^-52 and may leave up to one unit of it, and couplings, whose drafts depend on the same random bits.
TEST(BoundaryUniforms, LargestOnesAcceptADraftThatTheTargetLikesMoreAndOneOfEqualDistributions) {
  const double third = 1.0 / 3;
  // For token 0, p >= q, with equality in some pairs. The entries have no short binary form, so their sums round.
  const std::vector<std::pair<std::vector<double>, std::vector<double>>> pairs{
      {{0.1, 0.9}, {0.1, 0.9}},
      {{third, 1 - third}, {third, 1 - third}},
      {{0.7, 0.3}, {0.6, 0.4}},
      {{1, 0}, {0.3, 0.7}},
      {{0.1 + 0.2, 0.7}, {0.3, 0.7}}};
  int liked = 0, equal = 0;
  for (const auto& verifier : registry().verifiers()) {
    const Info& info = verifier->info();
    if (verifier->kind() != Kind::verifier || info.promise != Promise::lossless || info.shared_noise ||
        !info.unsupported.simulate.empty())
      continue;
    if (info.claims.one_draft_is_single_draft)
      for (const auto& [p, q] : pairs) {
        EXPECT_EQ(on_largest_words(*verifier, p, q, {0}).accepted, 0) << info.name;
        ++liked;
      }
    if (info.claims.accepts_equal_distributions)
      for (int seed = 0; seed < 20; ++seed) {
        const auto row = examples::random_row(static_cast<std::uint64_t>(seed), 7, 3);
        EXPECT_GE(on_largest_words(*verifier, row, row, {seed % 7, (seed + 1) % 7, (seed + 3) % 7}).accepted, 0)
            << info.name;
        ++equal;
      }
  }
  EXPECT_GT(liked, 0);
  EXPECT_GT(equal, 0);
}

}  // namespace
}  // namespace draftproof
