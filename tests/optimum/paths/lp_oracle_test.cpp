// The oracle of a solved plan is lossless in fractions and accepts as much as its certificate states.
#include <cmath>
#include <tuple>

#include <gtest/gtest.h>

#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/tests/support/random_trees.hpp>

namespace draftproof {
namespace {

/// Probability of `tokens` under the target after the empty prefix.
Rational target_of(const ExactContexts& conditionals, const Tokens& tokens, std::size_t from = 0) {
  Rational probability = 1;
  int context = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i >= from) probability *= conditionals.laws(context).target(tokens[i]);
    context = conditionals.next(context, tokens[i]);
  }
  return probability;
}

/// The first string of `length` tokens whose probability after a step, continued by the target, is not the target's;
/// empty if there is none.
Tokens first_wrong(const ExactContexts& conditionals, const StepLaw<Rational>& law, int length) {
  Tokens tokens(static_cast<std::size_t>(length), 0);
  for (;;) {
    Rational completed = 0;
    for (std::size_t n = 1; n <= tokens.size(); ++n) {
      const auto emitted = law.emitted.find(Tokens(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(n)));
      if (emitted != law.emitted.end()) completed += emitted->second * target_of(conditionals, tokens, n);
    }
    if (completed != target_of(conditionals, tokens)) return tokens;
    auto last = tokens.rbegin();
    while (last != tokens.rend() && *last == conditionals.vocabulary() - 1) *last++ = 0;
    if (last == tokens.rend()) return {};
    ++*last;
  }
}

struct Examined {
  StepLaw<Rational> law;
  Tokens wrong;
};
Examined examine(const AnyTreeDrafter& drafter, const SmallTreeModel& model, const TreeLaw& law,
                 const TreeCertificate& certificate) {
  const PathVerifierOf<LpOracle> oracle(Kind::verifier, {std::make_shared<const OraclePlan>(law, certificate)});
  const auto decider = oracle.prove_on(model.conditionals, model.shape);
  Examined result{explore_step_law<Rows<Rational>>(drafter, *decider, model.conditionals, model.shape), {}};
  result.wrong = first_wrong(model.conditionals, result.law, model.shape.length + 1);
  return result;
}

TEST(LpOracle, IsLosslessAndAttainsTheOptimumInFractions) {
  SmallTreeModels models(61);
  for (int i = 0; i < 25; ++i) {
    const SmallTreeModel model = models.next();
    for (const auto& drafter : path_registry().drafters()) {
      if (drafter->info().shared_noise()) continue;  // walked as the law it draws, which is on the list
      const TreeLaw law = model.law(drafter->info().name);
      const TreeCertificate certificate = tree_optimum(law, Sight::one_shot);
      const Examined result = examine(*drafter, model, law, certificate);
      ASSERT_EQ(result.law.mass, 1);
      ASSERT_EQ(result.wrong, Tokens{}) << drafter->info().name;
      ASSERT_EQ(result.law.mean_accepted(), certificate.lower) << drafter->info().name;
    }
  }
}

TEST(LpOracle, IsLosslessForAnyFeasiblePlan) {
  SmallTreeModels models(62);
  const AnyTreeDrafter& drafter = *path_registry().drafter("iid_paths");
  for (int i = 0; i < 25; ++i) {
    const SmallTreeModel model = models.next();
    const TreeLaw law = model.law("iid_paths");
    TreeProposal nonsense{{}, std::vector<double>(law.prefixes.size(), 0)};
    for (const TreeLaw::Tree& tree : law.trees) {
      nonsense.stops.emplace_back();
      for (std::size_t j = 0; j < tree.nodes.size(); ++j) nonsense.stops.back().push_back(models.below(5) / 7.0);
    }
    const Examined result = examine(drafter, model, law, certify(law, Sight::one_shot, nonsense));
    ASSERT_EQ(result.wrong, Tokens{});
  }
}

TEST(LpOracle, OfAPlanThatAcceptsTooMuchIsCaught) {
  // p = (1/2, 1/2), one path of one token, drafted (0) with 3/4: a plan that never refuses.
  const SmallTreeModel model{ExactContexts({Rows<Rational>({{1, 2}, {1, 2}}, std::vector<Rational>{{3, 4}, {1, 4}})}),
                             {.drafts = 1, .length = 1}};
  const TreeLaw law = model.law("iid_paths");
  TreeCertificate greedy{1, 1, {}, {}};
  for (const TreeLaw::Tree& tree : law.trees) greedy.stops.push_back({0, tree.probability});
  EXPECT_NE(reject(law, Sight::one_shot, greedy), "");
  EXPECT_NE(examine(*path_registry().drafter("iid_paths"), model, law, greedy).wrong, Tokens{});
}

TEST(LpOracle, RunsOnDoublesAndOnTables) {
  // The published toy with two paths: 131/81.
  const std::vector<double> p{1.0 / 3, 2.0 / 3}, q{2.0 / 3, 1.0 / 3};
  const PrefixTable<Rows<double>> rows({Rows<double>(p, q)});
  const TreeShape shape{.drafts = 2, .length = 2};
  const AnyTreeDrafter& drafter = *path_registry().drafter("iid_paths");
  const auto oracle = path_oracle(drafter, rows, shape);
  ASSERT_TRUE(oracle);
  const auto explored = oracle->explore_on(rows, shape);
  const auto law = explore_step_law<Rows<double>>(drafter, *explored, rows, shape);
  // Some tens of branches, each with an error of a few 2^-53.
  EXPECT_NEAR(law.mean_accepted(), 131.0 / 81, 1e-13);
  EXPECT_NEAR(law.mass, 1, 1e-13);

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
  // tau <= 2 has a variance of 1 at most: 6 standard errors. The seed is fixed, so the result is too.
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
