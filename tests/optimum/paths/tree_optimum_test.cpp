// Tests of the optimum of drafted trees: certificates, antichains, and the verifier that follows a solved plan.
#include <cmath>
#include <functional>
#include <tuple>

#include <gtest/gtest.h>

#include <draftproof/optimum/paths/certify.hpp>
#include <draftproof/optimum/paths/tree_program.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/tests/support/golden_path.hpp>
#include <draftproof/tests/support/random_trees.hpp>
#include <draftproof/tests/support/weighted_models.hpp>

namespace draftproof {
namespace {

/// Paths have one token, V = 2: p = (1/2, 1/2) at the root, and after one token the target is token 1 with certainty.
/// The tree {(), (0)} has probability 3/4 and {(), (1)} has 1/4. A step accepts at most 1/2 + 1/4 tokens on average.
class CertificateOfTwoTrees : public ::testing::Test {
 protected:
  TreeSampling distribution{{{-1, no_token, 0, {{1, 2}, {1, 2}}}, {0, 0, 1, {0, 1}}, {0, 1, 1, {0, 1}}},
                            {{{0, 1}, {3, 4}}, {{0, 2}, {1, 4}}}};
  TreeCertificate certificate{{3, 4}, {3, 4}, {{{1, 4}, {1, 2}}, {0, {1, 4}}}, {0, 1, 0}};

  std::string reason(Sight sight = Sight::one_shot) const { return reject(distribution, sight, certificate); }
};

TEST_F(CertificateOfTwoTrees, IsAccepted) {
  EXPECT_EQ(reason(), "");
  EXPECT_EQ(reason(Sight::whole_block), "");  // With L = 1, Sight::whole_block has no more information than one_shot.
}
TEST_F(CertificateOfTwoTrees, NotWithAnyFieldChanged) {
  const TreeCertificate good = certificate;
  using Changed = TreeCertificate;
  const std::vector<std::pair<std::string, std::function<void(Changed&)>>> changes{
      {"the plan accepts 3/4 tokens, not 7/8", [](Changed& bad) { bad.lower = Rational(7, 8); }},
      {"the prices prove 3/4, not 2/3", [](Changed& bad) { bad.upper = Rational(2, 3); }},
      {"the plan accepts (0) with 3/4, above 1/2",
       [](Changed& bad) {
         bad.stops[0] = {0, {3, 4}};
       }},
      {"the plan uses 1 of tree 0, drafted with 3/4", [](Changed& bad) { bad.stops[0][0] = Rational(1, 2); }},
      {"the plan uses 1/2 of tree 0, drafted with 3/4", [](Changed& bad) { bad.stops[0][0] = 0; }},
      {"the plan stops at () of tree 1 with -1/4",
       [](Changed& bad) {
         bad.stops[1] = {{-1, 4}, {1, 2}};
       }},
      {"the plan has another number of nodes for tree 1", [](Changed& bad) { bad.stops[1].push_back(0); }},
      {"the plan is for another number of trees", [](Changed& bad) { bad.stops.pop_back(); }},
      {"the prices prove 7/8, not 3/4", [](Changed& bad) { bad.prices[1] = Rational(1, 2); }},
      {"the price of (0) is -1", [](Changed& bad) { bad.prices[1] = -1; }},
      {"the price of the empty prefix is 1",
       [](Changed& bad) {
         bad.prices = {1, 1, 0};
       }},
      {"there are prices for another number of prefixes", [](Changed& bad) { bad.prices.pop_back(); }}};
  for (const auto& [wanted, change] : changes) {
    certificate = good;
    change(certificate);
    EXPECT_EQ(reason(), wanted);
  }
  certificate = good;
  certificate.stops[0] = {0, {3, 4}};
  EXPECT_EQ(reason(Sight::whole_block), "the plan accepts (0) with 3/4, above 1/2");
}
TEST_F(CertificateOfTwoTrees, NotForSomethingThatIsNoDistributionOfTrees) {
  const TreeSampling good = distribution;
  const std::vector<std::pair<std::string, std::function<void(TreeSampling&)>>> changes{
      {"the trees' probabilities sum to 3/4", [](TreeSampling& bad) { bad.trees[0].probability = Rational(1, 2); }},
      {"tree 0 has probability -3/4", [](TreeSampling& bad) { bad.trees[0].probability = Rational(-3, 4); }},
      {"tree 0 does not hold the empty prefix", [](TreeSampling& bad) { bad.trees[0].nodes = {1}; }},
      {"tree 0 has its nodes out of order",
       [](TreeSampling& bad) {
         bad.trees[0].nodes = {0, 2, 1};
       }},
      {"tree 0 has a node that is not a prefix",
       [](TreeSampling& bad) {
         bad.trees[0].nodes = {0, 3};
       }},
      {"tree 1 is listed twice",
       [](TreeSampling& bad) {
         bad.trees[0].nodes = {0, 2};
       }},
      {"tree 1 has a node without its parent",
       [](TreeSampling& bad) {
         bad.prefixes[2] = {1, 1, 2, {0, 1}};
       }},
      {"prefix 2 has the wrong depth", [](TreeSampling& bad) { bad.prefixes[2].depth = 2; }},
      {"prefix 2 does not come after its parent", [](TreeSampling& bad) { bad.prefixes[2].parent = 2; }},
      {"prefix 2 does not come after its parent", [](TreeSampling& bad) { bad.prefixes[2].parent = -1; }},
      {"prefix 2 ends with no token of the vocabulary", [](TreeSampling& bad) { bad.prefixes[2].token = 2; }},
      {"prefix 2 is listed twice", [](TreeSampling& bad) { bad.prefixes[2].token = 0; }},
      {"prefix 1 has a target that sums to 3/4",
       [](TreeSampling& bad) {
         bad.prefixes[1].target = {{1, 2}, {1, 4}};
       }},
      {"prefix 1 has a target with the negative probability -1/2",
       [](TreeSampling& bad) {
         bad.prefixes[1].target = {{-1, 2}, {3, 2}};
       }},
      {"prefix 1 has a target of another vocabulary", [](TreeSampling& bad) { bad.prefixes[1].target = {1}; }},
      {"prefix 0 is not the empty one", [](TreeSampling& bad) { bad.prefixes[0].parent = 0; }}};
  for (const auto& [wanted, change] : changes) {
    distribution = good;
    change(distribution);
    EXPECT_EQ(reason(), wanted);
  }
}

TEST(TreeCertificate, OfRandomTreesDoesNotSurviveTampering) {
  SmallTreeModels models(41);
  const Rational little(1, 1'000'000'000'000);
  for (int i = 0; i < 60; ++i) {
    const TreeSampling distribution = models.next().distribution(i % 2 ? "iid_paths" : "without_replacement_tree");
    const Sight sight = i % 4 < 2 ? Sight::one_shot : Sight::whole_block;
    const TreeCertificate good = tree_optimum(distribution, sight);
    ASSERT_EQ(reject(distribution, sight, good), "");
    const auto spoiled = [&](auto&& spoil) {
      TreeCertificate bad = good;
      spoil(bad);
      return !reject(distribution, sight, bad).empty();
    };
    ASSERT_TRUE(spoiled([&](TreeCertificate& bad) { bad.lower += little; }));
    ASSERT_TRUE(spoiled([&](TreeCertificate& bad) { bad.upper -= little; }));
    const auto t = static_cast<std::size_t>(models.below(static_cast<int>(distribution.trees.size())));
    for (std::size_t j = 0; j < good.stops[t].size(); ++j)
      ASSERT_TRUE(spoiled([&](TreeCertificate& bad) { bad.stops[t][j] += little; }));
    // A price that is higher by 1 changes the proved bound by at most 1, so an upper bound that is higher by 2 is
    // wrong.
    for (std::size_t x = 1; x < distribution.prefixes.size(); ++x) {
      TreeCertificate bad = good;
      bad.prices[x] += 1;
      bad.upper += 2;
      ASSERT_NE(reject(distribution, sight, bad), "") << "a bound may be off by 1 at most";
    }
  }
}

TEST(TreeCertificate, IsRightWhateverTheSolverSays) {
  SmallTreeModels models(42);
  for (int i = 0; i < 60; ++i) {
    const TreeSampling distribution = models.next().distribution("iid_paths");
    for (const Sight sight : {Sight::one_shot, Sight::whole_block}) {
      TreeProposal nonsense;
      for (const TreeSampling::Tree& tree : distribution.trees) {
        nonsense.stops.emplace_back();
        for (std::size_t j = 0; j < tree.nodes.size(); ++j)
          nonsense.stops.back().push_back(models.below(7) / 3.0 - 0.5);
      }
      for (std::size_t x = 0; x < distribution.prefixes.size(); ++x)
        nonsense.prices.push_back(models.below(9) / 3.0 - 1);
      const TreeCertificate loose = certify(distribution, sight, nonsense), tight = tree_optimum(distribution, sight);
      ASSERT_EQ(reject(distribution, sight, loose), "");
      ASSERT_LE(loose.lower, tight.upper);
      ASSERT_GE(loose.upper, tight.lower);
    }
  }
}

TEST(NearFraction, IsShortOrNothing) {
  EXPECT_EQ(short_fraction(131.0 / 81), Rational(131, 81));
  EXPECT_EQ(short_fraction(-2.0 / 3), Rational(-2, 3));
  EXPECT_EQ(short_fraction(0.0), Rational(0));
  EXPECT_EQ(short_fraction(1e-17), Rational(0));
  EXPECT_EQ(short_fraction(1.0 - 1e-13), Rational(1));
  EXPECT_EQ(short_fraction(0x1p-16), Rational(1, 1 << 16));
  EXPECT_FALSE(short_fraction(0.7182818284590452));
  EXPECT_FALSE(short_fraction(0x1p-17));
  EXPECT_FALSE(short_fraction(1e5));
}

TEST(NearFraction, IsRoundedDownToAMultipleOfAPowerOfTwo) {
  const Rational step = Rational(1) / (1ll << 60);
  EXPECT_EQ(rounded_down(Rational(3, 4)), Rational(3, 4));
  EXPECT_EQ(rounded_down(Rational(0)), Rational(0));
  for (const Rational& value : {Rational(1, 3), Rational(-1, 3), Rational(22, 7)}) {
    EXPECT_LT(rounded_down(value), value);
    EXPECT_GT(rounded_down(value), value - step);
    EXPECT_TRUE(Rational(rounded_down(value) / step).is_integer());
  }
}

// Clp and the search each violate constraints by at most 1e-11. A price, by which a violation is multiplied, is at most
// the number of prefixes, 14. Certificates add 1e-9.
constexpr double antichain_tolerance = 2e-9;

void expect_optimum(const TreeSampling& trees, const std::optional<double>& value) {
  ASSERT_TRUE(value);
  const TreeCertificate certificate = tree_optimum(trees, Sight::one_shot);
  EXPECT_LE(static_cast<double>(certificate.lower), *value + antichain_tolerance);
  EXPECT_GE(static_cast<double>(certificate.upper), *value - antichain_tolerance);
}

/// Returns the full tree of `vocabulary` tokens and `length` levels, with all nodes drafted.
TreeSampling full_tree(int vocabulary, int length) {
  TreeSampling distribution{
      {{-1, no_token, 0, std::vector<Rational>(static_cast<std::size_t>(vocabulary), {1, vocabulary})}}, {}};
  for (std::size_t i = 0; i < distribution.prefixes.size(); ++i)
    for (Token x = 0; x < vocabulary && distribution.prefixes[i].depth < length; ++x)
      distribution.prefixes.push_back(
          {static_cast<int>(i), x, distribution.prefixes[i].depth + 1, distribution.prefixes[0].target});
  return distribution;
}

TEST(Antichains, AreCountedAndVisitedOnceEach) {
  for (const auto& [vocabulary, length, wanted] :
       {std::tuple(2, 1, 3), {2, 2, 24}, {2, 3, 675}, {3, 1, 7}, {3, 2, 728}, {4, 1, 15}}) {
    const TreeSampling distribution = full_tree(vocabulary, length);
    EXPECT_EQ(antichain_count(distribution, 1e6), wanted);
    std::set<std::vector<int>> seen;
    for_each_antichain(distribution, [&](std::span<const int> antichain) {
      for (const int i : antichain)
        for (int u = distribution.prefixes[static_cast<std::size_t>(i)].parent; u > 0;
             u = distribution.prefixes[static_cast<std::size_t>(u)].parent)
          EXPECT_EQ(std::count(antichain.begin(), antichain.end(), u), 0);
      EXPECT_TRUE(seen.emplace(antichain.begin(), antichain.end()).second);
    });
    EXPECT_EQ(std::ssize(seen), wanted);
  }
  EXPECT_EQ(antichain_count(full_tree(4, 2), 1e6), 83'520);
  EXPECT_EQ(antichain_count(full_tree(2, 5), 1e6), 1e6 + 1);
}

TEST(Antichains, AreMetByIndependentPathsAsOften) {
  SmallTreeModels models(51);
  for (int i = 0; i < 40; ++i) {
    const SmallTreeModel model = models.next();
    const TreeSampling trees = model.distribution("iid_paths"), path = model.distribution("iid_paths", 1);
    // The two samplings number the prefixes differently, by first appearance; `same` maps one numbering to the other.
    ASSERT_EQ(trees.prefixes.size(), path.prefixes.size());
    std::map<std::pair<int, Token>, int> children;
    for (std::size_t x = 1; x < path.prefixes.size(); ++x)
      children[{path.prefixes[x].parent, path.prefixes[x].token}] = static_cast<int>(x);
    std::vector<int> same(trees.prefixes.size(), 0);
    for (std::size_t x = 1; x < trees.prefixes.size(); ++x)
      same[x] = children.at({same[static_cast<std::size_t>(trees.prefixes[x].parent)], trees.prefixes[x].token});
    const Meets by_trees = meets_of(trees), by_paths = meets_of_paths(path, model.shape.drafts);
    for_each_antichain(trees, [&](std::span<const int> antichain) {
      std::vector<int> there;
      for (const int x : antichain) there.push_back(same[static_cast<std::size_t>(x)]);
      // by_trees() adds over at most 64 trees and by_paths() takes a power of at most 3, which are some hundred
      // roundings.
      ASSERT_NEAR(by_trees(antichain), by_paths(there), 1e-13);
    });
  }
}

TEST(Antichains, GiveTheOptimumOfIndependentPathsWithoutTheirTrees) {
  for (const golden::PathCase& c : golden::path_cases()) {
    if (!c.entry.contains("lp_one_shot") || c.entry.contains("tree") || c.entry.contains("branching")) continue;
    if (c.scheme != "block" && c.scheme != "gbv") continue;  // one case per model is enough
    TreeShape one = c.shape;
    one.drafts = 1;
    const auto path = enumerate_tree_sampling(*path_registry().drafter("iid_paths"), c.model->conditionals(), one);
    const auto value = antichain_optimum(*path, meets_of_paths(*path, c.shape.drafts));
    ASSERT_EQ(value.has_value(), antichain_count(*path, 2e5) <= 2e5) << c.id;
    if (value) {
      EXPECT_NEAR(*value, c.entry.at("lp_one_shot").get<double>(), 1e-7) << c.id;
    }
  }
  SmallTreeModels models(52);
  for (int i = 0; i < 60; ++i) {
    const SmallTreeModel model = models.next();
    const TreeSampling path = model.distribution("iid_paths", 1);
    expect_optimum(model.distribution("iid_paths"),
                   antichain_optimum(path, meets_of_paths(path, model.shape.drafts)));
  }
}

TEST(Antichains, GiveTheOptimumOfAnyTrees) {
  SmallTreeModels models(53);
  for (int i = 0; i < 25; ++i) {
    const SmallTreeModel model = models.next();
    for (const auto& drafter : path_registry().drafters()) {
      if (drafter->info().shared_noise()) continue;  // its marginal sampling is tested as another drafter
      const TreeSampling distribution = model.distribution(drafter->info().name);
      expect_optimum(distribution, antichain_optimum(distribution, meets_of(distribution)));
    }
  }
}

TEST(Antichains, AreTooManySoon) {
  const TreeSampling distribution = full_tree(2, 3);
  const Meets always = [](std::span<const int>) { return 1.0; };
  EXPECT_FALSE(antichain_optimum(distribution, always, 674));
  // If every tree contains every prefix, the optimum is one token per level.
  EXPECT_NEAR(antichain_optimum(distribution, always, 675).value(), 3, antichain_tolerance);
}

struct Examined {
  StepDistribution<Rational> distribution;
  Rational error;  ///< largest deviation of the output distribution from the target
};
Examined examine(const AnyTreeDrafter& drafter, const SmallTreeModel& model, const TreeSampling& distribution,
                 const TreeCertificate& certificate) {
  const PathVerifierOf<LpOracle> oracle(Kind::verifier,
                                        {std::make_shared<const OraclePlan>(distribution, certificate)});
  const auto decider = oracle.prove_on(model.conditionals, model.shape);
  auto found = explore_step_distribution<Rows<Rational>>(drafter, *decider, model.conditionals, model.shape);
  const Rational error = weighted::completed_error(found, model.conditionals, model.shape.length);
  return {std::move(found), error};
}

TEST(LpOracle, IsLosslessAndAttainsTheOptimumInFractions) {
  SmallTreeModels models(61);
  for (int i = 0; i < 25; ++i) {
    const SmallTreeModel model = models.next();
    for (const auto& drafter : path_registry().drafters()) {
      if (drafter->info().shared_noise()) continue;  // its marginal sampling is tested as another drafter
      const TreeSampling distribution = model.distribution(drafter->info().name);
      const TreeCertificate certificate = tree_optimum(distribution, Sight::one_shot);
      const Examined result = examine(*drafter, model, distribution, certificate);
      ASSERT_EQ(result.distribution.mass, 1);
      ASSERT_EQ(result.error, 0) << drafter->info().name;
      ASSERT_EQ(result.distribution.mean_accepted(), certificate.lower) << drafter->info().name;
    }
  }
}

TEST(LpOracle, IsLosslessForAnyFeasiblePlan) {
  SmallTreeModels models(62);
  const AnyTreeDrafter& drafter = *path_registry().drafter("iid_paths");
  for (int i = 0; i < 25; ++i) {
    const SmallTreeModel model = models.next();
    const TreeSampling distribution = model.distribution("iid_paths");
    TreeProposal nonsense{{}, std::vector<double>(distribution.prefixes.size(), 0)};
    for (const TreeSampling::Tree& tree : distribution.trees) {
      nonsense.stops.emplace_back();
      for (std::size_t j = 0; j < tree.nodes.size(); ++j) nonsense.stops.back().push_back(models.below(5) / 7.0);
    }
    const Examined result = examine(drafter, model, distribution, certify(distribution, Sight::one_shot, nonsense));
    ASSERT_EQ(result.error, 0);
  }
}

TEST(LpOracle, OfAPlanThatAcceptsTooMuchIsCaught) {
  // p = (1/2, 1/2). There is one path of one token, which is token 0 with probability 3/4. The plan never rejects.
  const SmallTreeModel model{ExactContexts({Rows<Rational>({{1, 2}, {1, 2}}, std::vector<Rational>{{3, 4}, {1, 4}})}),
                             {.drafts = 1, .length = 1}};
  const TreeSampling distribution = model.distribution("iid_paths");
  TreeCertificate greedy{1, 1, {}, {}};
  for (const TreeSampling::Tree& tree : distribution.trees) greedy.stops.push_back({0, tree.probability});
  EXPECT_NE(reject(distribution, Sight::one_shot, greedy), "");
  EXPECT_NE(examine(*path_registry().drafter("iid_paths"), model, distribution, greedy).error, 0);
}

TEST(LpOracle, RunsOnDoublesAndOnTables) {
  // The published small model with two paths has the optimum 131/81.
  const std::vector<double> p{1.0 / 3, 2.0 / 3}, q{2.0 / 3, 1.0 / 3};
  const PrefixTable<Rows<double>> rows({Rows<double>(p, q)});
  const TreeShape shape{.drafts = 2, .length = 2};
  const AnyTreeDrafter& drafter = *path_registry().drafter("iid_paths");
  const auto oracle = path_oracle(drafter, rows, shape);
  ASSERT_TRUE(oracle);
  const auto explored = oracle->explore_on(rows, shape);
  const auto distribution = explore_step_distribution<Rows<double>>(drafter, *explored, rows, shape);
  // There are some tens of branches, each with an error of a few 2^-53.
  EXPECT_NEAR(distribution.mean_accepted(), 131.0 / 81, 1e-13);
  EXPECT_NEAR(distribution.mass, 1, 1e-13);

  std::vector<RatioTable> table;
  table.emplace_back(p, std::vector<std::vector<double>>{q});
  const PrefixTable<RatioTable> tables(std::move(table));
  const auto simulated = oracle->simulate_on(tables, shape);
  ASSERT_TRUE(simulated);
  constexpr int trials = 100'000;
  std::uint64_t accepted = 0;
  DraftTree tree;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    Philox drafting(7, trial, Philox::Role::draft), verifying(7, trial, Philox::Role::verify);
    tree.clear(0);
    drafter.draw(tables, shape, drafting, tree);
    accepted += static_cast<std::uint64_t>(tree.depth(simulated->decide(tree, {}, verifying).node));
  }
  // The number of accepted tokens is in 0 .. 2, so its variance is at most 1, and the tolerance is 6 standard errors.
  // The seed is fixed.
  EXPECT_NEAR(static_cast<double>(accepted) / trials, 131.0 / 81, 6 / std::sqrt(trials));
}

TEST(LpOracle, DoesNotKnowOtherTrees) {
  const PrefixTable<Rows<double>> rows({Rows<double>({0.5, 0.5}, std::vector<double>{1, 0})});
  const TreeShape shape{.drafts = 1, .length = 1};
  const auto oracle = path_oracle(*path_registry().drafter("iid_paths"), rows, shape);
  const auto decider = oracle->explore_on(rows, shape);
  DraftTree tree;
  tree.draw(DraftTree::root, 1, 0);
  EXPECT_THROW((std::ignore = explore_steps<Rows<double>, double>(*decider, tree, {}, {}, [](int, Token, double) {})),
               std::logic_error);
  EXPECT_EQ(path_oracle(*path_registry().drafter("iid_paths"), rows, shape, 0, {.branches = 0, .nodes = 9}), nullptr);
}

}  // namespace
}  // namespace draftproof
